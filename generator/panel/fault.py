"""Generic faults: each turns the reference into a wrong backend; those of variadic inputs."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from opcert.arrays.calls import argument_of, flatten_variadic, keys_of, tensor_key
from opcert.arrays.element_types import Array, invert_bits
from opcert.specification.model import Spec


@dataclass(frozen=True, eq=False)
class ArrayCall:
    """One call with its arrays, laid out in memory as a backend gets them."""

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    _integers: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)

    def argument(self, name: str) -> Any:
        """Return an input or an attribute, or None where the call omits it.

        Of a variadic input, that is its first tensor.
        """
        first = self.inputs.get(tensor_key(name, 0))
        return self.inputs.get(name, self.attributes.get(name, first))

    def integers(self, name: str) -> tuple[int, ...]:
        """Return every integer in an argument; cached, since most faults ask for them."""
        if name not in self._integers:
            self._integers[name] = tuple(integers_in(self.argument(name)))
        return self._integers[name]

    def replaced(self, name: str, value: Any) -> "ArrayCall":
        """Return the call with another value of an argument that it does not omit."""
        if name in self.inputs:
            return ArrayCall({**self.inputs, name: value}, self.attributes)
        return ArrayCall(self.inputs, {**self.attributes, name: value})

    def without(self, name: str) -> "ArrayCall":
        """Return the call with an argument omitted."""
        return ArrayCall(
            {key: array for key, array in self.inputs.items() if argument_of(key) != name},
            {key: value for key, value in self.attributes.items() if key != name},
        )


Outputs: TypeAlias = Sequence[Array]
# Runs the reference; its errors are passed on.
RunReference: TypeAlias = Callable[[ArrayCall], Outputs]
# Runs the faulty backend; returns None where it does the same as the reference.
Run: TypeAlias = Callable[[ArrayCall, RunReference], Any]
# How a fault misreads a call: the same object where it makes no difference.
Misreading: TypeAlias = Callable[[ArrayCall], ArrayCall]
# What a fault depends on: each call by itself; also the calls before it; or also the memory of
# inputs and outputs.
Mode: TypeAlias = Literal["calls", "history", "memory"]


@dataclass(frozen=True)
class Fault:
    """A wrong backend; `start` returns the function that runs a fresh one.

    `text` describes the fault as a clause. `rule` is the full id of the requirement that is not
    checked, if there is one.
    """

    name: str
    text: str
    start: Callable[[], Run] = field(repr=False)
    mode: Mode = "calls"
    rule: str | None = None


@dataclass(frozen=True)
class OperatorSignature:
    """The source of faults: a spec, and the types and ranks of its valid calls by input.

    The inputs in `data` have elements that the operator only moves. A variadic input is represented
    by the keys of its first tensors.
    """

    spec: Spec
    data: tuple[str, ...]
    ranks: Mapping[str, tuple[int, ...]]
    types: Mapping[str, tuple[str, ...]]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The inputs whose elements the operator interprets, such as axes, indices or lengths."""
        return tuple(item.name for item in self.spec.inputs if item.name not in self.data_arguments)

    @property
    def data_arguments(self) -> tuple[str, ...]:
        """The inputs in `data`, variadic ones by name."""
        return tuple(dict.fromkeys(map(argument_of, self.data)))

    @property
    def integers(self) -> tuple[str, ...]:
        """The arguments that hold integers: inputs of numbers, and attributes."""
        attributes = [
            item.name
            for item in self.spec.attributes
            if item.type in ("int", "record")
            or (item.type == "list" and item.elements in (None, "int"))
        ]
        return (*self.numbers, *attributes)


def stateless(name: str, text: str, run: Run) -> Fault:
    """Return a fault that depends on each call by itself."""
    return Fault(name, text, lambda: run)


def misreading(name: str, text: str, misread: Misreading, is_checked: bool = False) -> Fault:
    """Return a fault that takes a call for another one; with `is_checked`, after its checks."""

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        misread_call = misread(call)
        if misread_call is call:
            return None
        if is_checked:
            reference(call)
        return reference(misread_call)

    return stateless(name, text, run)


misreading_after_checks = partial(misreading, is_checked=True)


def corrupting(name: str, text: str, where: Callable[[ArrayCall, Outputs], bool]) -> Fault:
    """Return a fault that corrupts the last element of each output of some calls."""

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        outputs = reference(call)
        return _corrupted(outputs) if where(call, outputs) else None

    return stateless(name, text, run)


def rejecting(name: str, text: str, where: Callable[[ArrayCall], bool]) -> Fault:
    """Return a fault that rejects some calls, valid ones among them."""

    def run(call: ArrayCall, _: RunReference) -> None:
        if where(call):
            raise ValueError(text)

    return stateless(name, text, run)


def _corrupted(outputs: Outputs) -> Outputs | None:
    """Return copies of outputs with each last element inverted; None where all are empty."""
    if not any(output.size for output in outputs):
        return None
    copies = [output.copy(order="C") for output in outputs]
    for output in copies:
        if output.size:
            last = output.reshape(-1)[-1:]
            last[...] = invert_bits(last)
    return copies


def is_integral(value: Any) -> bool:
    """Whether an argument is an array of integers, or an integer that is no boolean."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)


def integers_in(value: Any) -> list[int]:
    """Return every integer in an argument, in order, those of lists and records included."""
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist()) if is_integral(value) else []
    if isinstance(value, list):
        return [number for part in value for number in integers_in(part)]
    if isinstance(value, dict):
        return [number for part in value.values() for number in integers_in(part)]
    return [value] if is_integral(value) else []


def with_integers(value: Any, change: Callable[[int], int]) -> Any:
    """Return an argument with every integer in it changed."""
    if isinstance(value, np.ndarray):
        return array_like(value, [change(number) for number in value.ravel().tolist()])
    if isinstance(value, list):
        return [with_integers(part, change) for part in value]
    if isinstance(value, dict):
        return {key: with_integers(part, change) for key, part in value.items()}
    return change(value) if is_integral(value) else value


def array_like(array: Array, numbers: Sequence[int]) -> Array:
    """Return integers in the shape of an array where they fill it, in a type that holds them."""
    shape = array.shape if array.size == len(numbers) else (len(numbers),)
    limits = np.iinfo(array.dtype)
    is_in_range = all(limits.min <= number <= limits.max for number in numbers)
    dtype = array.dtype if is_in_range else np.dtype(np.int64)
    return np.array(numbers, dtype).reshape(shape)


# Sizes of tables of arguments, and limits of a kernel's parameters.
_LIMITS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)


def variadic_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the faults of each variadic input."""
    for argument in signature.spec.inputs:
        if argument.variadic is not None:
            yield from _list_faults(argument.name)
            yield from _limit_faults(argument.name)
            yield from _form_faults(argument.name)
            yield from _cache_faults(argument.name)


def _tensors(name: str, call: ArrayCall) -> list[Array]:
    return [call.inputs[key] for key in keys_of(name, call.inputs)]


def _with_tensors(name: str, tensors: Sequence[Array], call: ArrayCall) -> ArrayCall:
    others = {key: array for key, array in call.inputs.items() if argument_of(key) != name}
    return ArrayCall({**flatten_variadic({name: tensors}), **others}, call.attributes)


def _misread(
    name: str, change: Callable[[list[Array]], Sequence[Array]], call: ArrayCall
) -> ArrayCall:
    tensors = _tensors(name, call)
    changed = change(tensors)
    pairs = zip(tensors, changed, strict=False)
    if len(changed) == len(tensors) and all(one is other for one, other in pairs):
        return call
    return _with_tensors(name, changed, call)


def _list_faults(name: str) -> Iterator[Fault]:
    """Yield faults in the order and in the choice of tensors."""
    changes: tuple[tuple[str, str, Callable[[list[Array]], Sequence[Array]]], ...] = (
        ("reversed", "are taken in reverse order", lambda tensors: tensors[::-1]),
        ("rotated", "are taken from the second on", lambda tensors: tensors[1:] + tensors[:1]),
        (
            "last-two-exchanged",
            "have their last two exchanged",
            lambda tensors: [*tensors[:-2], *tensors[:-3:-1]],
        ),
        (
            "sorted",
            "are taken in the order of their sizes",
            lambda tensors: sorted(tensors, key=lambda array: -array.size),
        ),
        ("without-last", "lack their last", lambda tensors: tensors[:-1]),
        ("without-first", "lack their first", lambda tensors: tensors[1:]),
        ("first-again", "are all the first, where they have its form", _all_like(0)),
        ("last-again", "are all the last, where they have its form", _all_like(-1)),
        ("second-again", "are all the second, where they have its form", _all_like(1)),
        ("shape-of-first", "all have the shape of the first", _in_shape_of_first),
        ("later-as-c", "are read in C order, but for the first", _later_in_c_order),
    )
    for key, text, change in changes:
        yield misreading_after_checks(
            f"{name}-{key}", f"the tensors of {name} {text}", partial(_misread, name, change)
        )


def _all_like(number: int) -> Callable[[list[Array]], list[Array]]:
    def change(tensors: list[Array]) -> list[Array]:
        if len(tensors) < 2:
            return tensors
        model = tensors[number]
        return [model if array.shape == model.shape else array for array in tensors]

    return change


def _in_shape_of_first(tensors: list[Array]) -> list[Array]:
    shape = tensors[0].shape
    return [array if array.shape == shape else np.resize(array, shape) for array in tensors]


def _later_in_c_order(tensors: list[Array]) -> list[Array]:
    return [
        array if k == 0 or array.flags.c_contiguous else array.ravel(order="K").reshape(array.shape)
        for k, array in enumerate(tensors)
    ]


def _limit_faults(name: str) -> Iterator[Fault]:
    """Yield faults from some number of tensors on."""
    for limit in _LIMITS:
        yield misreading_after_checks(
            f"{name}-cut-to-{limit}",
            f"of {name} only the first {limit} tensors are used",
            partial(_misread, name, partial(_first, limit)),
        )
        yield corrupting(
            f"{name}-beyond-{limit}-wrong",
            f"results are wrong for more than {limit} tensors of {name}",
            partial(_has_more, name, limit),
        )
        yield rejecting(
            f"{name}-beyond-{limit}-rejected",
            f"more than {limit} tensors of {name} are rejected",
            partial(_has_more, name, limit),
        )
    yield rejecting(
        f"{name}-one-rejected",
        f"a single tensor of {name} is rejected",
        lambda call: len(_tensors(name, call)) == 1,
    )


def _first(limit: int, tensors: list[Array]) -> list[Array]:
    return tensors[:limit]


def _has_more(name: str, limit: int, call: ArrayCall, _: Outputs = ()) -> bool:
    return len(_tensors(name, call)) > limit


def _form_faults(name: str) -> Iterator[Fault]:
    """Yield faults where some of the tensors are empty, or of another extent than the first."""
    positions: dict[str, Callable[[list[Array]], list[Array]]] = {
        "first": lambda tensors: tensors[:1],
        "middle": lambda tensors: tensors[1:-1],
        "last": lambda tensors: tensors[-1:],
    }

    def is_empty(
        select: Callable[[list[Array]], list[Array]], call: ArrayCall, _: Outputs = ()
    ) -> bool:
        tensors = _tensors(name, call)
        has_elements = any(array.size for array in tensors)
        return has_elements and any(not array.size for array in select(tensors))

    for position, select in positions.items():
        yield rejecting(
            f"{name}-empty-{position}-rejected",
            f"a {position} tensor of {name} without elements is rejected",
            partial(is_empty, select),
        )
        yield corrupting(
            f"{name}-empty-{position}-wrong",
            f"results are wrong if a {position} tensor of {name} has no elements",
            partial(is_empty, select),
        )
    yield corrupting(
        f"{name}-unequal-wrong",
        f"results are wrong if the tensors of {name} differ in shape",
        lambda call, _: len({array.shape for array in _tensors(name, call)}) > 1,
    )
    yield corrupting(
        f"{name}-equal-wrong",
        f"results are wrong if several tensors of {name} have one shape",
        lambda call, _: (
            len(_tensors(name, call)) > 1
            and len({array.shape for array in _tensors(name, call)}) == 1
        ),
    )


def _cache_faults(name: str) -> Iterator[Fault]:
    """Yield faults of a plan or a result that is kept under an incomplete key."""
    keys: dict[str, tuple[str, Callable[[list[Array]], Hashable]]] = {
        "number": ("as many tensors", lambda tensors: (len(tensors), tensors[0].dtype)),
        "first": ("the same shape of the first tensor", lambda tensors: _form(tensors[0])),
        "total": (
            "as many elements in all tensors",
            lambda tensors: (tensors[0].dtype, sum(array.size for array in tensors)),
        ),
    }
    for key, (text, key_of) in keys.items():
        yield Fault(
            f"forms-by-{key}-of-{name}",
            f"the tensors of {name} get the extents of an earlier call with {text}",
            partial(_reusing_forms, name, key_of),
            "history",
        )


def _form(array: Array) -> Hashable:
    return array.dtype, array.shape


def _reusing_forms(name: str, key_of: Callable[[list[Array]], Hashable]) -> Run:
    """Cut the elements of all tensors as those of an earlier call with the same key were."""
    forms: dict[Hashable, list[tuple[int, ...]]] = {}

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        outputs = reference(call)
        tensors = _tensors(name, call)
        shapes = [array.shape for array in tensors]
        planned = forms.setdefault((key_of(tensors), repr(call.attributes)), shapes)
        if planned == shapes:
            return None
        elements = np.concatenate([array.ravel() for array in tensors])
        if not elements.size:
            return [output[:0] for output in outputs]
        ends = np.cumsum([0, *map(prod, planned)])
        misread = [
            elements.take(range(start, end), mode="wrap").reshape(shape)
            for shape, (start, end) in zip(planned, pairwise(ends), strict=True)
        ]
        return reference(_with_tensors(name, misread, call))

    return run
