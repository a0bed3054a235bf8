"""JAX as a backend, with 64-bit types and without jax.jit."""

from collections import deque
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, Array
from opcert.backends import composition as host
from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.array_functions import Compute, declared_support
from opcert.backends.contract import Arguments

# JAX compiles for every shape and keeps the code, 3 MB each, so its caches are cleared before a
# call that resembles none of the last few calls. A valid call and its invalid variants, which
# differ in one argument, thus share a cache to which no other call contributes, and a case that
# runs alone finds the same cache as in a whole run.
LAST_CALLS = 8
NUMBERS = [name for name in ELEMENT_TYPES if name not in ("boolean", *FOUR_BIT_TYPES)]
PATHS = {
    **{name: f"nn.{name}" for name in ("relu", "sigmoid", "softmax")},
    "convolution": "lax.conv_general_dilated",
    "split": "lax.split",
    "region": "._region",
    "pad": "._pad",
}
HOW = {
    "region": "native: indexing by slices",
    "broadcast_to": "native: jnp.broadcast_to; in mode explicit lax.broadcast_in_dim",
    "take": "composed: jnp.take(mode='fill'), batches by jax.vmap",
    "pad": "native: jnp.pad",
}


class Jax(ArrayAdapter):
    """Runs operators by the functions of jax.numpy and jax.lax, dispatched one by one."""

    name = "jax"
    paths, common = PATHS, "numpy."
    setup = 'jax.config.update("jax_enable_x64", True)'
    support: Mapping[str, Any] = declared_support(
        "jax", ELEMENT_TYPES, NUMBERS, PATHS, HOW, ["scatter"], "numpy."
    )
    reuse = (
        "what JAX compiles and caches, dropped before a call that has, by types and shapes, "
        f"neither the first input of one of the last {LAST_CALLS} nor all but one of its arguments"
    )

    def __init__(self) -> None:
        self._last: deque[_Form] = deque(maxlen=LAST_CALLS)
        self._library = import_module("jax")
        self.version = f"{self._library.__version__} on {self._library.default_backend()}"

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Compute `operator` with JAX."""
        form = _form(operator, inputs, attributes)
        if not any(_resemble(form, other) for other in self._last):
            self._library.clear_caches()
            self._last.clear()
        self._last.append(form)
        with self._library.enable_x64(True):
            return super().run(operator, inputs, attributes)

    def native(self, operator: str, inputs: Arguments, attributes: Arguments) -> str:
        """Return the call in the API of JAX."""
        with self._library.enable_x64(True):
            return super().native(operator, inputs, attributes)

    def close(self) -> None:
        """Drop compiled code."""
        self._library.clear_caches()

    def _tensor(self, array: Array) -> Any:
        # JAX may alias the caller's memory, and computes while the caller goes on.
        return self._library.numpy.array(array, copy=True)

    def _dtype(self, name: str) -> Any:
        return ELEMENT_TYPES[name]

    def _array(self, tensor: Any) -> Array:
        return np.array(tensor, copy=True)

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        jax = self._library
        if axes is None:
            return lambda: [jax.numpy.broadcast_to(self._tensor(data), target)]
        if host.are_integers(axes) and axes != sorted(axes):
            raise ValueError(f"axes {axes}; expected ascending order, JAX would transpose data")
        return lambda: [jax.lax.broadcast_in_dim(self._tensor(data), target, axes)]

    def _gather_8(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        number = host.to_number(axis)
        batches = host.batch_rank(data, indices, number, batch_dims)
        # Within jax.vmap the batch dimensions are gone.
        inner_axis = range(data.ndim)[number] - batches if batches else number

        def compute() -> list[Any]:
            take = partial(self._library.numpy.take, axis=inner_axis, mode="fill", fill_value=0)
            for _ in range(batches):
                take = self._library.vmap(take)
            return [take(self._tensor(data), self._tensor(indices))]

        return compute

    def _pad(self, tensor: Any, pads: list[tuple[Any, Any]], mode: str, fill: Array) -> Any:
        more = {"constant_values": fill} if mode == "constant" else {}
        widths = np.array(pads).reshape(-1, 2).astype(int)
        return self._library.numpy.pad(tensor, widths, mode, **more)


# A call by operator, attributes, types and shapes: what compiled code depends on. The operator is
# first, then the first input.
_Form: TypeAlias = dict[str, Any]


def _form(operator: str, inputs: Arguments, attributes: Arguments) -> _Form:
    arrays = {name: v if isinstance(v, list) else [v] for name, v in inputs.items()}
    forms = {name: [(a.dtype, a.shape) for a in listed] for name, listed in arrays.items()}
    return {"": operator, **forms, **attributes}


def _resemble(form: _Form, other: _Form) -> bool:
    """Whether calls of one operator have the same first input, or differ in one argument."""
    if [*form.items()][:2] == [*other.items()][:2]:
        return True
    differing = [n for n in {*form, *other} if form.get(n) != other.get(n)]
    return form[""] == other[""] and len(differing) < 2
