"""JAX as a backend, with 64-bit types and without jax.jit."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, Array
from opcert.backends import composition as host
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import NAMES, Compute, function_support

# JAX compiles for every shape and keeps the code, 3 MB each, so its caches are cleared before a
# call that resembles none of the last few calls. A valid call and its invalid variants, which
# differ in one argument, thus share a cache to which no other call contributes, and a case that
# runs alone finds the same cache as in a whole run.
LAST_CALLS = 8
REUSE = {
    "on": "what JAX compiles and caches, dropped before a call that has, by types and shapes, "
    f"neither the first input of one of the last {LAST_CALLS} nor all but one of its arguments",
    "off": "nothing: what JAX compiles and caches is dropped before each call",
}


@dataclass(frozen=True)
class _Signature:
    """The key of compiled code: attributes, types and shapes; `first` is that of input 0."""

    operator: str
    first: tuple[str, Any]
    arguments: Mapping[str, Any]

    @classmethod
    def of(
        cls, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> "_Signature":
        forms = {
            name: tuple(
                (array.dtype, array.shape)
                for array in (value if isinstance(value, list) else [value])
            )
            for name, value in inputs.items()
        }
        return cls(operator, next(iter(forms.items()), ("", None)), {**forms, **attributes})

    def resembles(self, other: "_Signature") -> bool:
        names = {*self.arguments, *other.arguments}
        differing = [n for n in names if self.arguments.get(n) != other.arguments.get(n)]
        return self.operator == other.operator and (self.first == other.first or len(differing) < 2)


# How each operator is computed.
HOW = {
    "openvino/VariadicSplit-1": "composed: lax.split, a -1 in split_lengths replaced on the host",
    "openvino/Slice-8": "native: indexing by slices",
    "openvino/Broadcast-1": "native: jnp.broadcast_to; in mode explicit lax.broadcast_in_dim",
    "openvino/Gather-8": "composed: jnp.take(mode='fill'), batches by jax.vmap",
    "directml/DML_OPERATOR_SPLIT": "composed: lax.split, OutputTensors compared with what it gives "
    "on the host",
    "openvino/Split-1": "composed: lax.split, equal lengths computed on the host",
    "openvino/Concat-1": "native: jnp.concatenate",
    "openvino/Tile-1": "native: jnp.tile",
    "openvino/Pad-1": "native: jnp.pad",
    "openvino/Transpose-1": "native: jnp.transpose",
    "openvino/Reshape-1": "composed: jnp.reshape, sizes that are copied replaced on the host",
    "openvino/GatherElements-6": "native: jnp.take_along_axis",
    "directml/DML_OPERATOR_JOIN": "composed: jnp.concatenate, OutputTensor compared with what it "
    "gives on the host",
    "directml/DML_OPERATOR_SLICE1": "composed: indexing by slices, the window and OutputTensor "
    "read on the host",
}


NUMBERS = [name for name in ELEMENT_TYPES if name not in ("boolean", *FOUR_BIT_TYPES)]
# The functions of JAX that compute with numbers.
FUNCTIONS = {
    **{operator: f"numpy.{name}" for operator, name in NAMES.items()},
    "openvino/Relu-1": "nn.relu",
    "openvino/Sigmoid-1": "nn.sigmoid",
    "openvino/Softmax-8": "nn.softmax",
    "openvino/Convolution-1": "lax.conv_general_dilated",
}
COMPOSED = {
    "openvino/Convolution-1": "composed: lax.conv_general_dilated; the host counts the pads",
}


class Jax(ArrayAdapter):
    """Runs operators by the functions of jax.numpy and jax.lax, dispatched one by one.

    With `cache` off, compiled code is dropped before each call.
    """

    name = "jax"
    functions, numbers = FUNCTIONS, "numpy."
    setup = 'jax.config.update("jax_enable_x64", True)'
    support: Mapping[str, Any] = {
        **{operator: {"how": how} for operator, how in HOW.items()},
        **function_support(FUNCTIONS, "jax", ELEMENT_TYPES, NUMBERS, COMPOSED),
    }

    def __init__(self, cache: str = "on") -> None:
        host.check_options(host.CACHE, cache=cache)
        self.reuse = REUSE[cache]
        self._last: deque[_Signature] = deque(maxlen=LAST_CALLS if cache == "on" else 0)
        self._jax: Any = host.import_runtime("jax", "jax", "jax")
        self._numpy: Any = host.import_runtime("jax.numpy", "jax", "jax")
        self._lax: Any = self._jax.lax
        self.version = f"{self._jax.__version__} on {self._jax.default_backend()}"

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with JAX."""
        signature = _Signature.of(operator, inputs, attributes)
        if not any(signature.resembles(other) for other in self._last):
            self._jax.clear_caches()
            self._last.clear()
        self._last.append(signature)
        with self._jax.enable_x64(True):
            return super().run(operator, inputs, attributes)

    def native(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> str:
        """Return the call in the API of JAX."""
        with self._jax.enable_x64(True):
            return super().native(operator, inputs, attributes)

    def close(self) -> None:
        """Drop compiled code."""
        self._jax.clear_caches()

    def _tensor(self, array: Array) -> Any:
        # JAX may alias the caller's memory, and computes while the caller goes on.
        return self._numpy.array(array, copy=True)

    @property
    def _library(self) -> Any:
        return self._jax

    def _typed(self, tensor: Any, name: str) -> Any:
        return self._numpy.astype(tensor, ELEMENT_TYPES[name])

    def _array(self, tensor: Any) -> Array:
        return np.array(tensor, copy=True)

    def _split(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        return lambda: self._lax.split(self._tensor(data), lengths, axis)

    def _slice(self, data: Array, slices: tuple[slice, ...]) -> Compute:
        return lambda: [self._tensor(data)[slices]]

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        if axes is None:
            return lambda: [self._numpy.broadcast_to(self._tensor(data), target)]
        if host.are_integers(axes) and axes != sorted(axes):
            raise ValueError(f"axes {axes}; expected ascending order, JAX would transpose data")
        return lambda: [self._lax.broadcast_in_dim(self._tensor(data), target, axes)]

    def _gather(self, data: Array, indices: Array, axis: Any, batch_dims: int) -> Compute:
        batches = host.batch_rank(data, indices, axis, batch_dims)
        # Within jax.vmap the batch dimensions are gone.
        inner_axis = range(data.ndim)[axis] - batches if batches else axis

        def compute() -> list[Any]:
            take = partial(self._numpy.take, axis=inner_axis, mode="fill", fill_value=0)
            for _ in range(batches):
                take = self._jax.vmap(take)
            return [take(self._tensor(data), self._tensor(indices))]

        return compute

    def _concat(self, arrays: Sequence[Array], axis: Any) -> Compute:
        return lambda: [self._numpy.concatenate([self._tensor(a) for a in arrays], axis)]

    def _tile(self, data: Array, repeats: list[Any]) -> Compute:
        return lambda: [self._numpy.tile(self._tensor(data), repeats)]

    def _pad(self, data: Array, begin: Array, end: Array, mode: str, fill: Array | None) -> Compute:
        host.check_padding(data, [begin, end], mode, fill)
        pads = np.stack([host.to_list(begin), host.to_list(end)], axis=-1).astype(int)
        more = {"constant_values": np.zeros((), data.dtype) if fill is None else fill}
        more = more if mode == "constant" else {}
        return lambda: [self._numpy.pad(self._tensor(data), pads, mode, **more)]

    def _permute(self, data: Array, order: list[Any]) -> Compute:
        return lambda: [self._numpy.transpose(self._tensor(data), order)]

    def _reshape(self, data: Array, shape: list[Any]) -> Compute:
        return lambda: [self._numpy.reshape(self._tensor(data), shape)]

    def _gather_elements(self, data: Array, indices: Array, axis: Any) -> Compute:
        take = self._numpy.take_along_axis
        return lambda: [take(self._tensor(data), self._tensor(indices), axis)]
