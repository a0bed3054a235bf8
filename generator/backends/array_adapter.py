"""The base class of adapters for array libraries."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np

from opcert.arrays.element_types import Array
from opcert.backends import composition as host
from opcert.backends.array_functions import ArrayFunctions, Compute
from opcert.backends.contract import Arguments, adapter_rejections
from opcert.backends.native import Trace, Traced, render_native
from opcert.backends.probing import REDUCTIONS


class ArrayAdapter(ArrayFunctions):
    """Runs operators by the functions of an array library.

    A call has two phases, so that a rejection can be attributed: the host reads the arguments and
    prepares a computation, then the library computes. Each input is copied to the library's device
    once, and each output is copied back once.
    """

    name: str
    support: Mapping[str, Any]
    # A line of native code that sets the library up.
    setup: ClassVar[str] = ""

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Compute `operator` with the library.

        Raises:
            NotImplementedError: the adapter lacks the operator, or the library a type.
            AdapterRejection: the call violates a rule that the library cannot check.
            Exception: the library rejects the call.
        """
        if operator not in self.support:
            raise NotImplementedError(f"{self.name}: {operator}")
        with adapter_rejections():
            compute = self._prepare(operator)(**inputs, **attributes)
        outputs = [self._array(tensor) for tensor in compute()]
        described = attributes.get("OutputTensors", [attributes.get("OutputTensor")])
        if described != [None]:
            with adapter_rejections():
                host.check_descriptions(outputs, described)
        return outputs

    def native(self, operator: str, inputs: Arguments, attributes: Arguments) -> str:
        """Return the call in the API of the library: the calls of its functions, up to an error.

        Raises:
            NotImplementedError: the adapter lacks the operator, or the library a type.
            Exception: the call violates a rule that the library cannot check.
        """
        trace, traced, module = Trace(inputs), copy(self), self._library.__name__
        traced._library = Traced(trace, self._library, module)
        compute = traced._prepare(operator)(**inputs, **attributes)
        # The last line is the one that fails.
        with suppress(Exception):
            outputs = [traced._array_code(tensor) for tensor in compute()]
            trace.lines.append(f"return [{', '.join(outputs)}]")
        template = "native_calls.py.j2"
        return render_native(template, module=module, setup=self.setup, lines=trace.lines)

    def _prepare(self, operator: str) -> Callable[..., Compute]:
        """Return the method that reads the arguments of an operator: _slice_8 of openvino/Slice-8.

        Reductions share one, and functions of elements.
        """
        name = operator.partition("/")[2]
        method = "_" + re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()
        shared = self._reduce if operator in REDUCTIONS else self._elementwise
        prepare: Callable[..., Compute] = getattr(self, method, partial(shared, operator))
        return prepare

    def _variadic_split_1(self, data: Array, axis: Array, split_lengths: Array) -> Compute:
        number = host.to_number(axis)
        lengths = host.replace_rest(host.to_list(split_lengths), data.shape, number)
        return self._split_by(data, lengths, number)

    def _split_1(self, data: Array, axis: Array, num_splits: Any) -> Compute:
        if axis.ndim:
            raise ValueError(f"an axis of shape {axis.shape}; expected a scalar")
        number = axis.item()
        return self._split_by(data, host.equal_lengths(data.shape, number, num_splits), number)

    def _dml_operator_split(self, InputTensor: Array, Axis: int, **outputs: Any) -> Compute:
        return self._split_by(InputTensor, host.described_lengths(Axis=Axis, **outputs), Axis)

    def _split_by(self, data: Array, lengths: list[Any], axis: Any) -> Compute:
        split = self._function("split")
        return lambda: split(self._tensor(data), lengths, axis)

    def _slice_8(self, data: Array, **bounds: Array) -> Compute:
        return self._applied("region", [data], host.slices_by_dimension(data.ndim, **bounds))

    def _dml_operator_slice1(self, InputTensor: Array, **window: Any) -> Compute:
        slices = host.window_slices(InputTensor.shape, **window)
        return self._applied("region", [InputTensor], slices)

    def _region(self, tensor: Any, slices: tuple[slice, ...]) -> Any:
        """Return the elements that a slice of each dimension selects."""
        return tensor[slices]

    def _broadcast_1(self, data: Array, target_shape: Array, **alignment: Any) -> Compute:
        axes = host.explicit_axes(**alignment)
        return self._broadcast(data, host.to_list(target_shape), axes)

    def _broadcast(self, data: Array, target: list[Any], axes: list[Any] | None) -> Compute:
        """Prepare `data` in shape `target`, with axes mapped to `axes` or aligned at the end."""
        if axes is None:
            return self._applied("broadcast_to", [data], tuple(target))
        reshape, broadcast = self._function("reshape"), self._function("broadcast_to")
        shape = tuple(host.spread_shape(data.shape, axes, len(target)))
        return lambda: [broadcast(reshape(self._tensor(data), shape), tuple(target))]

    def _gather_8(self, data: Array, indices: Array, axis: Array, batch_dims: int = 0) -> Compute:
        plan = host.GatherPlan(data, indices, host.to_number(axis), batch_dims)
        reshape = self._function("reshape")

        def compute() -> list[Any]:
            table = reshape(self._tensor(data), plan.table_shape)
            return [reshape(self._rows(table, plan), plan.output_shape)]

        return compute

    def _rows(self, tensor: Any, plan: host.GatherPlan) -> Any:
        """Return the rows of the plan, zeros for indices out of range."""
        any_in_range = bool(plan.in_range.any())
        # Nothing can be taken from an empty dimension. Taking no row still lets the library check
        # the axis and the types.
        rows = self._tensor(plan.rows if any_in_range else plan.rows[:0])
        taken = self._function("take")(tensor, rows, axis=plan.axis)
        if not any_in_range:
            shape = list(tensor.shape)
            shape[plan.axis] = len(plan.rows)
            return self._function("zeros")(tuple(shape), dtype=tensor.dtype)
        in_range = self._tensor(plan.in_range.reshape(-1, *[1] * plan.trailing))
        return self._function("where")(in_range, taken, self._function("zeros_like")(taken))

    def _concat_1(self, inputs: Sequence[Array], axis: Any) -> Compute:
        host.check_tensors(inputs)
        concat = self._function("concat")
        return lambda: [concat([self._tensor(array) for array in inputs], axis=axis)]

    def _dml_operator_join(
        self, InputTensors: Sequence[Array], InputCount: int, OutputTensor: Any, Axis: int
    ) -> Compute:
        del OutputTensor  # compared with the output
        host.check_join(InputTensors, InputCount, Axis)
        return self._concat_1(InputTensors[:InputCount], Axis)

    def _tile_1(self, data: Array, repeats: Array) -> Compute:
        return self._applied("tile", [data], tuple(host.to_list(repeats)))

    def _pad_1(
        self,
        data: Array,
        pads_begin: Array,
        pads_end: Array,
        pad_mode: str,
        pad_value: Array | None = None,
    ) -> Compute:
        host.check_padding(data, [pads_begin, pads_end], pad_mode, pad_value)
        pads = list(zip(host.to_list(pads_begin), host.to_list(pads_end), strict=True))
        fill = np.zeros((), data.dtype) if pad_value is None else pad_value
        return self._applied("pad", [data], pads, pad_mode, fill)

    def _transpose_1(self, arg: Array, input_order: Array) -> Compute:
        order = host.to_list(input_order) or [*reversed(range(arg.ndim))]
        # Libraries count from the end, too.
        if host.are_integers(order) and any(axis < 0 for axis in order):
            raise ValueError(f"order {order}; expected axes from the start")
        return self._applied("permute_dims", [arg], tuple(order))

    def _reshape_1(self, data: Array, shape: Array, special_zero: Any) -> Compute:
        sizes = tuple(host.copied_sizes(data.shape, shape, special_zero))
        return self._applied("reshape", [data], sizes)

    def _gather_elements_6(self, data: Array, indices: Array, axis: Any) -> Compute:
        host.check_element_indices(data, indices, axis)
        return self._applied("take_along_axis", [data, indices], axis=axis)

    @abstractmethod
    def _array(self, tensor: Any) -> Array:
        """Return a tensor of the library as an array with memory of its own."""

    def _array_code(self, tensor: Traced) -> str:
        """Return the expression of a traced tensor as an array."""
        return f"np.array({tensor.text})"
