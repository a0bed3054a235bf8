"""Functions that compute with numbers, as array libraries have them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import MappingProxyType
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
# What no library has as one function.
COMPOSED = {"openvino/MVN-6": "composed: mean, subtract, multiply, add, sqrt and divide"}
# The names that most libraries give their functions of numbers.
NAMES = {
    "openvino/Exp-1": "exp",
    "openvino/Add-1": "add",
    "openvino/Multiply-1": "multiply",
    "openvino/Divide-1": "divide",
    "openvino/Maximum-1": "maximum",
    "openvino/Less-1": "less",
    "openvino/Select-1": "where",
    "openvino/Convert-1": "astype",
    "openvino/Relu-1": "relu",
    "openvino/Clamp-1": "clip",
    "openvino/Sqrt-1": "sqrt",
    "openvino/Sigmoid-1": "sigmoid",
    "openvino/Tanh-1": "tanh",
    "openvino/ReduceSum-1": "sum",
    "openvino/ReduceMean-1": "mean",
    "openvino/MatMul-1": "matmul",
    "openvino/Softmax-8": "softmax",
    "openvino/MVN-6": "mean",
}
# The library's part of a call, which runs after the host has read the arguments.
Compute: TypeAlias = Callable[[], Sequence[Any]]


class ArrayFunctions(ABC):
    """Runs functions of numbers by those of an array library.

    `functions` has for each operator the path of the library's function, or of a method that
    composes it, which begins with a dot. `numbers` is the path of the module of functions that all
    libraries name alike.
    """

    functions: ClassVar[Mapping[str, str]]
    numbers: ClassVar[str] = ""
    support: Mapping[str, Any]

    @property
    @abstractmethod
    def _library(self) -> Any:
        """The module of the library."""

    @abstractmethod
    def _tensor(self, array: Array) -> Any:
        """Return `array` as a tensor of the library."""

    @abstractmethod
    def _typed(self, tensor: Any, name: str) -> Any:
        """Return a tensor in an element type."""

    @abstractmethod
    def _permute(self, data: Array, order: list[Any]) -> Compute:
        """Prepare `data` with its axes in another order."""

    def _function_operators(self) -> dict[str, Callable[..., Compute]]:
        """Return what prepares a call of each operator."""
        return {
            **{operator: partial(self._elementwise, operator) for operator in ELEMENTWISE},
            "openvino/Divide-1": self._divide_1,
            "openvino/Convert-1": self._convert_1,
            "openvino/Clamp-1": self._clamp_1,
            "openvino/ReduceSum-1": partial(self._reduce, "openvino/ReduceSum-1"),
            "openvino/ReduceMean-1": partial(self._reduce, "openvino/ReduceMean-1"),
            "openvino/MatMul-1": self._matmul_1,
            "openvino/Softmax-8": self._softmax_8,
            "openvino/Convolution-1": self._convolution_1,
            "openvino/MVN-6": self._mvn_6,
        }

    def _function(self, operator: str, array: Array) -> Callable[..., Any]:
        """Return the function of an operator.

        Raises:
            NotImplementedError: the library computes it in other types.
        """
        name = type_name(array.dtype)
        if name not in self.support[operator].get("types", ELEMENT_TYPES):
            raise NotImplementedError(f"{operator} of {name}")
        path = self.functions[operator]
        owner = self if path.startswith(".") else self._library
        function: Callable[..., Any] = attrgetter(path.removeprefix("."))(owner)
        return function

    def _common(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = attrgetter(self.numbers + name)(self._library)
        return function

    def _elementwise(self, operator: str, auto_broadcast: Any = "numpy", **inputs: Any) -> Compute:
        arrays = {name: inputs.pop(name) for name in ELEMENTWISE[operator]}
        if inputs:
            raise TypeError(f"arguments {', '.join(inputs)}")
        if len(arrays) > 1:
            modes = (
                host.BROADCASTS_OF_MAXIMUM if operator == "openvino/Maximum-1" else host.BROADCASTS
            )
            host.check_broadcast(arrays, auto_broadcast, modes)
            _check_types(arrays)
        function = self._function(operator, next(iter(arrays.values())))
        return lambda: [function(*map(self._tensor, arrays.values()))]

    def _divide_1(
        self,
        a: Array,
        b: Array,
        m_pythondiv: Any = True,  # noqa: ARG002 -- rounding down is one of the results without it
        auto_broadcast: Any = "numpy",
    ) -> Compute:
        compute = self._elementwise("openvino/Divide-1", auto_broadcast, a=a, b=b)
        if type_name(a.dtype) not in INTEGERS:
            return compute
        divide = self._common("floor_divide")
        return lambda: [divide(self._tensor(a), self._tensor(b))]

    def _convert_1(self, data: Array, destination_type: str) -> Compute:
        if destination_type not in ELEMENT_TYPES:
            raise ValueError(f"unknown type '{destination_type}'")
        return lambda: [self._typed(self._tensor(data), destination_type)]

    def _clamp_1(self, data: Array, min: float, max: float) -> Compute:  # noqa: A002
        function = self._function("openvino/Clamp-1", data)
        bounds = host.clamp_bounds(type_name(data.dtype), min, max)
        return lambda: [function(self._tensor(data), *bounds)]

    def _reduce(self, operator: str, data: Array, axes: Array, keep_dims: bool = False) -> Compute:
        function = self._function(operator, data)
        listed = host.to_list(axes if axes.ndim else axes.reshape(1))
        # Without axes, some libraries reduce all of them.
        if not listed:
            return lambda: [self._tensor(data)]
        more = {"axis": tuple(listed), "keepdims": keep_dims}

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            # Sums of narrow integers become wider otherwise.
            is_sum = operator == "openvino/ReduceSum-1"
            return [function(tensor, **more, **({"dtype": tensor.dtype} if is_sum else {}))]

        return compute

    def _matmul_1(
        self, a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False
    ) -> Compute:
        function = self._function("openvino/MatMul-1", a)
        _check_types({"a": a, "b": b})

        def compute() -> list[Any]:
            return [function(self._matrices(a, transpose_a), self._matrices(b, transpose_b))]

        return compute

    def _matrices(self, array: Array, is_transposed: bool) -> Any:
        if not is_transposed or array.ndim < 2:
            return self._tensor(array)
        *batches, row, column = range(array.ndim)
        return self._permute(array, [*batches, column, row])()[0]

    def _softmax_8(self, data: Array, axis: Any = 1) -> Compute:
        function = self._function("openvino/Softmax-8", data)
        return lambda: [function(self._tensor(data), axis)]

    def _convolution_1(
        self,
        data: Array,
        filter: Array,  # noqa: A002
        strides: list[int],
        pads_begin: list[int],
        pads_end: list[int],
        dilations: list[int],
        auto_pad: str = "explicit",
    ) -> Compute:
        function = self._function("openvino/Convolution-1", data)
        pads = _window_pads(data, filter, strides, dilations, (pads_begin, pads_end), auto_pad)
        return lambda: [
            function(
                self._tensor(data), self._tensor(filter), strides, pads, rhs_dilation=dilations
            )
        ]

    def _mvn_6(
        self, data: Array, axes: Array, normalize_variance: bool, eps: float, eps_mode: str
    ) -> Compute:
        """Prepare a mean, and a variance of what differs from it."""
        function, listed = self._function("openvino/MVN-6", data), tuple(host.to_list(axes))
        if eps_mode not in ("inside_sqrt", "outside_sqrt") or not eps > 0:
            raise ValueError(f"eps {eps} {eps_mode}")
        if type_name(axes.dtype) not in ("i32", "i64"):
            raise TypeError(f"axes of {axes.dtype}")
        subtract, multiply, add, divide, sqrt = map(
            self._common, ("subtract", "multiply", "add", "divide", "sqrt")
        )

        def compute() -> list[Any]:
            tensor = self._tensor(data)
            # Without axes, some libraries reduce all of them.
            mean = partial(function, axis=listed, keepdims=True) if listed else _itself
            centred = subtract(tensor, mean(tensor))
            if not normalize_variance:
                return [centred]
            small = self._tensor(np.array(eps, data.dtype))
            variance = mean(multiply(centred, centred))
            is_inside = eps_mode == "inside_sqrt"
            root = sqrt(add(variance, small)) if is_inside else add(sqrt(variance), small)
            return [divide(centred, root)]

        return compute


def function_support(
    functions: Mapping[str, str],
    library: str,
    types: Collection[str],
    numbers: Collection[str],
    composed: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Return the declared support of a library's functions; `composed` says how others are.

    Conversion and selection take all `types`, functions of `FLOATING` floats, others `numbers`.
    """
    support: dict[str, dict[str, Any]] = {}
    for operator, path in functions.items():
        how = {**COMPOSED, **composed}.get(operator, f"native: {library}.{path}")
        entry: dict[str, Any] = {"how": how}
        if operator == "openvino/Select-1":
            entry |= {"types": ["boolean"]} | {"input_types": {key: [*types] for key in MOVED}}
        elif operator == "openvino/Convert-1":
            entry |= {"types": [*types]} | {"input_types": {"destination_type": [*types]}}
        else:
            is_floating = operator in FLOATING
            entry["types"] = [n for n in numbers if n in FLOATS or not is_floating]
        support[operator] = entry
    return support


def _window_pads(
    data: Array,
    weights: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[Sequence[int]],
    mode: str,
) -> list[tuple[int, int]]:
    """Return what is added before and after each axis of space, which libraries crop, too.

    PyTorch takes data without batches. The runtime checks channels, strides and dilations.
    """
    if not 3 <= data.ndim == weights.ndim <= 5:
        raise ValueError(f"data of rank {data.ndim}, a filter of rank {weights.ndim}")
    if mode == "explicit":
        if any(number < 0 for side in pads for number in side):
            raise ValueError(f"pads {pads}; expected none below 0")
        return list(zip(*pads, strict=True))
    if mode not in ("same_upper", "same_lower", "valid"):
        raise ValueError(f"unknown mode '{mode}'")
    added = []
    axes = zip(data.shape[2:], weights.shape[2:], strides, dilations, strict=True)
    for n, k, s, d in axes:
        missing = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) if mode != "valid" else 0
        before = missing // 2 if mode == "same_upper" else missing - missing // 2
        added.append((before, missing - before))
    return added


def _itself(tensor: Any) -> Any:
    return tensor


def _check_types(arrays: Mapping[str, Array]) -> None:
    """Check that tensors have one type, since libraries promote, and that a condition is one."""
    types = {name: type_name(array.dtype) for name, array in arrays.items()}
    if types.pop("cond", "boolean") != "boolean" or len({*types.values()}) > 1:
        raise TypeError(f"types {types}")
