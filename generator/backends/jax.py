"""JAX as a backend, with 64-bit types and without a jit of its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from opcert.generator.backends.composition import (
    as_described,
    batches,
    described_lengths,
    mapping,
    number,
    numbers,
    region,
    runtime,
    with_rest,
)
from opcert.generator.element_types import Array

# JAX compiles for every shape and keeps it, 3 MB each; past so many calls that is dropped.
KEPT_CALLS = 300


class Jax:
    """Runs operators by the functions of jax.numpy and jax.lax, dispatched one by one."""

    name = "jax"
    support: ClassVar[dict[str, Any]] = {
        "openvino/VariadicSplit-1": {
            "how": "composed: lax.split, a -1 in split_lengths replaced on the host"
        },
        "openvino/Slice-8": {"how": "native: indexing by slices"},
        "openvino/Broadcast-1": {
            "how": "native: jnp.broadcast_to; in mode explicit lax.broadcast_in_dim"
        },
        "openvino/Gather-8": {"how": "composed: jnp.take(mode='fill'), batches by jax.vmap"},
        "directml/DML_OPERATOR_SPLIT": {
            "how": "composed: lax.split, OutputTensors compared with what it gives on the host"
        },
    }

    def __init__(self) -> None:
        self._jax: Any = runtime("jax", "jax", "jax")
        self._numpy: Any = runtime("jax.numpy", "jax", "jax")
        self._lax: Any = self._jax.lax
        self._calls = 0
        self.version = f"{self._jax.__version__} on {self._jax.default_backend()}"
        self._operators: dict[str, Callable[..., list[Array]]] = {
            "openvino/VariadicSplit-1": self._variadic_split,
            "openvino/Slice-8": self._slice,
            "openvino/Broadcast-1": self._broadcast,
            "openvino/Gather-8": self._gather,
            "directml/DML_OPERATOR_SPLIT": self._dml_split,
        }

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Compute `operator` with JAX."""
        if operator not in self._operators:
            raise NotImplementedError(f"jax: {operator}")
        self._calls += 1
        if self._calls % KEPT_CALLS == 0:
            self._jax.clear_caches()
        with self._jax.enable_x64(True):
            return self._operators[operator](**inputs, **attributes)

    def close(self) -> None:
        """Drop what was compiled."""
        self._jax.clear_caches()

    def _variadic_split(self, data: Array, axis: Array, split_lengths: Array) -> list[Array]:
        where = number(axis)
        lengths = with_rest(numbers(split_lengths), data.shape, where)
        return _arrays(self._lax.split(self._tensor(data), lengths, where))

    def _slice(
        self, data: Array, start: Array, stop: Array, step: Array, axes: Array | None = None
    ) -> list[Array]:
        slices = region(data.ndim, start, stop, step, axes)
        return _arrays([self._tensor(data)[slices]])

    def _broadcast(
        self,
        data: Array,
        target_shape: Array,
        axes_mapping: Array | None = None,
        mode: str = "numpy",
    ) -> list[Array]:
        axes, target = mapping(mode, axes_mapping), numbers(target_shape)
        tensor = self._tensor(data)
        if axes is None:
            return _arrays([self._numpy.broadcast_to(tensor, target)])
        return _arrays([self._lax.broadcast_in_dim(tensor, target, axes)])

    def _gather(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> list[Array]:
        where = number(axis)
        take = partial(self._numpy.take, axis=where, mode="fill", fill_value=0)
        count = batches(data, indices, where, batch_dims) if batch_dims else 0
        if count:
            take = partial(take, axis=range(data.ndim)[where] - count)
        for _ in range(count):
            take = self._jax.vmap(take)
        return _arrays([take(self._tensor(data), self._tensor(indices))])

    def _dml_split(
        self,
        InputTensor: Array,  # noqa: N803 -- as the document has it
        OutputCount: int,  # noqa: N803
        OutputTensors: Sequence[Mapping[str, Any]],  # noqa: N803
        Axis: int,  # noqa: N803
    ) -> list[Array]:
        lengths = described_lengths(OutputCount, OutputTensors, Axis)
        parts = self._lax.split(self._tensor(InputTensor), lengths, Axis)
        return as_described(_arrays(parts), OutputTensors)

    def _tensor(self, array: Array) -> Any:
        # A copy: JAX may keep the caller's memory, and computes while the caller goes on.
        return self._numpy.array(array, copy=True)


def _arrays(tensors: Sequence[Any]) -> list[Array]:
    return [np.array(each, copy=True) for each in tensors]
