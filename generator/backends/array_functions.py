"""Functions that compute with numbers, as array libraries have them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array, type_name
from opcert.backends import composition as host
from opcert.backends.probing import ELEMENTWISE

# Operators whose functions give floats, of integers, too.
FLOATING = [f"openvino/{f}" for f in ("Exp-1", "Sqrt-1", "Sigmoid-1", "Tanh-1", "ReduceMean-1")]
FLOATING += ["openvino/Softmax-8", "openvino/MVN-6"]
FLOATS = ("bf16", "f16", "f32", "f64")
# The inputs of Select that it chooses from.
MOVED = ("then", "else_")
# The function of each operator that computes, by the name that most libraries give it.
COMPUTES = {
    **{name: name.removeprefix("openvino/").removesuffix("-1").lower() for name in ELEMENTWISE},
    "openvino/Select-1": "where",
    "openvino/Convert-1": "astype",
    "openvino/Clamp-1": "clip",
    "openvino/ReduceSum-1": "sum",
    "openvino/ReduceMean-1": "mean",
    "openvino/MatMul-1": "matmul",
    "openvino/Softmax-8": "softmax",
    "openvino/MVN-6": "mean",
    "openvino/Convolution-1": "convolution",
}
# Those of the operators that move elements.
MOVES = {
    "openvino/VariadicSplit-1": "split",
    "openvino/Slice-8": "region",
    "openvino/Broadcast-1": "broadcast_to",
    "openvino/Gather-8": "take",
    "openvino/Split-1": "split",
    "openvino/Concat-1": "concat",
    "openvino/Tile-1": "tile",
    "openvino/Pad-1": "pad",
    "openvino/Transpose-1": "permute_dims",
    "openvino/Reshape-1": "reshape",
    "openvino/GatherElements-6": "take_along_axis",
    "openvino/ScatterElementsUpdate-3": "scatter",
    "directml/DML_OPERATOR_SPLIT": "split",
    "directml/DML_OPERATOR_JOIN": "concat",
    "directml/DML_OPERATOR_SLICE1": "region",
}
# What the host adds to the function of any library.
HOST = {
    "openvino/VariadicSplit-1": "a -1 in split_lengths replaced on the host",
    "openvino/Split-1": "equal lengths computed on the host",
    "openvino/Reshape-1": "sizes that are copied replaced on the host",
    "openvino/MVN-6": "subtract, multiply, add, sqrt and divide",
    "openvino/Convolution-1": "pads counted on the host",
    "directml/DML_OPERATOR_SPLIT": "OutputTensors compared with what it gives on the host",
    "directml/DML_OPERATOR_JOIN": "OutputTensor compared with what it gives on the host",
    "directml/DML_OPERATOR_SLICE1": "the window and OutputTensor read on the host",
}
# How libraries whose functions lack it map axes, and gather.
COMPOSED = {
    "broadcast_to": "composed: broadcast_to; in mode explicit of data reshaped on the host's "
    "reading of axes_mapping",
    "take": "composed: the selection of rows by int64 indices, which the host compares with the "
    "dimension, batches by reshape, zeros by where",
}
# The library's part of a call, which runs after the host has read the arguments.
Compute: TypeAlias = Callable[[], Sequence[Any]]


def declared_support(
    library: str,
    types: Collection[str],
    numbers: Collection[str],
    paths: Mapping[str, str],
    how: Mapping[str, str],
    lacking: Collection[str] = (),
    common: str = "",
) -> dict[str, dict[str, Any]]:
    """Return the declared support of a library, which has most functions under their common names.

    `paths` are those of the others, `how` says how some are composed, and `lacking` has none;
    common names are in the module `common`. Functions of `FLOATING` take floats, others that
    compute `numbers`, and those that move all `types`.
    """
    support: dict[str, dict[str, Any]] = {}
    for operator, name in (COMPUTES | MOVES).items():
        if name in lacking:
            continue
        text = how.get(name, f"native: {library}.{paths.get(name, common + name)}")
        if operator in HOST:
            text = f"composed: {text.partition(': ')[2]}, {HOST[operator]}"
        entry: dict[str, Any] = {"how": text, "types": [*types]}
        if operator == "openvino/Select-1":
            entry |= {"types": ["boolean"]} | {"input_types": {key: [*types] for key in MOVED}}
        elif operator == "openvino/Convert-1":
            entry["input_types"] = {"destination_type": [*types]}
        elif operator in COMPUTES:
            is_floating = operator in FLOATING
            entry["types"] = [n for n in numbers if n in FLOATS or not is_floating]
        support[operator] = entry
    return support


class ArrayFunctions(ABC):
    """Runs functions of numbers by those of an array library.

    `paths` are the paths of functions that the library does not have under their common names, or
    of methods that compose them, which begin with a dot. Common names are in the module `common`.
    """

    paths: ClassVar[Mapping[str, str]]
    common: ClassVar[str] = ""
    # The module of the library.
    _library: Any

    @abstractmethod
    def _tensor(self, array: Array) -> Any:
        """Return `array` as a tensor of the library."""

    def _dtype(self, name: str) -> Any:
        """Return the library's element type of a name."""
        return getattr(self._library, ELEMENT_TYPES[name].name)

    def _function(self, name: str) -> Callable[..., Any]:
        """Return the function of a common name."""
        path = self.paths.get(name, self.common + name)
        owner = self if path.startswith(".") else self._library
        function: Callable[..., Any] = attrgetter(path.removeprefix("."))(owner)
        return function

    def _applied(self, name: str, arrays: Iterable[Array], *more: Any, **named: Any) -> Compute:
        """Prepare the call of a function of arrays, whose result is the output."""
        function = self._function(name)
        return lambda: [function(*map(self._tensor, arrays), *more, **named)]

    # The methods below prepare the call of an operator. Their own exceptions are the adapter's
    # rejections; those of the functions that they return are the library's.

    def _elementwise(self, operator: str, auto_broadcast: Any = "numpy", **inputs: Any) -> Compute:
        has_pdpd = operator != "openvino/Maximum-1"
        modes = host.BROADCASTS if has_pdpd else host.BROADCASTS_OF_MAXIMUM
        host.check_broadcast(inputs, auto_broadcast, modes)
        _check_types(inputs)
        return self._applied(COMPUTES[operator], inputs.values())

    def _divide_1(self, a: Array, b: Array, m_pythondiv: Any = True, **mode: Any) -> Compute:
        del m_pythondiv  # rounding down is one of the results without it
        compute = self._elementwise("openvino/Divide-1", **mode, a=a, b=b)
        if type_name(a.dtype) not in INTEGERS:
            return compute
        return self._applied("floor_divide", [a, b])

    def _convert_1(self, data: Array, destination_type: str) -> Compute:
        if destination_type not in ELEMENT_TYPES:
            raise ValueError(f"unknown type '{destination_type}'")
        convert = self._function("astype")
        return lambda: [convert(self._tensor(data), self._dtype(destination_type))]

    def _clamp_1(self, data: Array, min: float, max: float) -> Compute:  # noqa: A002
        bounds = host.clamp_bounds(type_name(data.dtype), min, max)
        return self._applied("clip", [data], *bounds)

    def _reduce(self, operator: str, data: Array, axes: Array, keep_dims: bool = False) -> Compute:
        function = self._function(COMPUTES[operator])
        listed = host.to_list(axes if axes.ndim else axes.reshape(1))
        # Without axes, some libraries reduce all of them.
        if not listed:
            return lambda: [self._tensor(data)]

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            # Sums of narrow integers become wider otherwise.
            more = {"dtype": tensor.dtype} if operator == "openvino/ReduceSum-1" else {}
            return [function(tensor, axis=tuple(listed), keepdims=keep_dims, **more)]

        return compute

    def _mat_mul_1(
        self, a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False
    ) -> Compute:
        multiply = self._function("matmul")
        _check_types({"a": a, "b": b})
        return lambda: [multiply(self._matrices(a, transpose_a), self._matrices(b, transpose_b))]

    def _matrices(self, array: Array, is_transposed: bool) -> Any:
        if not is_transposed or array.ndim < 2:
            return self._tensor(array)
        *batches, row, column = range(array.ndim)
        permute = self._function("permute_dims")
        return permute(self._tensor(array), (*batches, column, row))

    def _softmax_8(self, data: Array, axis: Any = 1) -> Compute:
        return self._applied("softmax", [data], axis)

    def _convolution_1(
        self,
        data: Array,
        filter: Array,  # noqa: A002
        strides: list[int],
        dilations: list[int],
        **padding: Any,
    ) -> Compute:
        pads = _window_pads(data, filter, strides, dilations, **padding)
        arrays = data, filter
        return self._applied("convolution", arrays, strides, pads, rhs_dilation=dilations)

    def _mvn_6(
        self, data: Array, axes: Array, normalize_variance: bool, eps: float, eps_mode: str
    ) -> Compute:
        """Prepare a mean, and a variance of what differs from it."""
        function, listed = self._function("mean"), tuple(host.to_list(axes))
        if eps_mode not in ("inside_sqrt", "outside_sqrt") or not eps > 0:
            raise ValueError(f"eps {eps} {eps_mode}")
        if type_name(axes.dtype) not in ("i32", "i64"):
            raise TypeError(f"axes of {axes.dtype}")
        names = "subtract", "multiply", "add", "divide", "sqrt"
        subtract, multiply, add, divide, sqrt = map(self._function, names)

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            # Without axes, some libraries reduce all of them.
            reduced = partial(function, axis=listed, keepdims=True)
            mean: Callable[..., Any] = reduced if listed else lambda t: t
            centred = subtract(tensor, mean(tensor))
            if not normalize_variance:
                return [centred]
            small = self._tensor(np.array(eps, data.dtype))
            variance = mean(multiply(centred, centred))
            is_inside = eps_mode == "inside_sqrt"
            root = sqrt(add(variance, small)) if is_inside else add(sqrt(variance), small)
            return [divide(centred, root)]

        return compute


def _window_pads(
    data: Array,
    weights: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads_begin: Sequence[int],
    pads_end: Sequence[int],
    auto_pad: str = "explicit",
) -> list[tuple[int, int]]:
    """Return what is added before and after each axis of space, which libraries crop, too.

    PyTorch takes data without batches. The runtime checks channels, strides and dilations.
    """
    if not 3 <= data.ndim == weights.ndim <= 5:
        raise ValueError(f"data of rank {data.ndim}, a filter of rank {weights.ndim}")
    if auto_pad == "explicit":
        if any(number < 0 for number in (*pads_begin, *pads_end)):
            raise ValueError(f"pads {(pads_begin, pads_end)}; expected none below 0")
        return list(zip(pads_begin, pads_end, strict=True))
    if auto_pad not in ("same_upper", "same_lower", "valid"):
        raise ValueError(f"unknown mode '{auto_pad}'")
    added = []
    axes = zip(data.shape[2:], weights.shape[2:], strides, dilations, strict=True)
    for n, k, s, d in axes:
        missing = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) if auto_pad != "valid" else 0
        before = missing // 2 if auto_pad == "same_upper" else missing - missing // 2
        added.append((before, missing - before))
    return added


def _check_types(arrays: Mapping[str, Array]) -> None:
    """Check that tensors have one type, since libraries promote, and that a condition is one."""
    types = {name: type_name(array.dtype) for name, array in arrays.items()}
    if types.pop("cond", "boolean") != "boolean" or len({*types.values()}) > 1:
        raise TypeError(f"types {types}")
