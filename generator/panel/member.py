"""A member of the panel: the reference of an operator with one difference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from opcert.arrays import Array, invert_bits
from opcert.specification import Spec


@dataclass(frozen=True, eq=False)
class ArrayCall:
    """One call with its arrays, laid out in memory as a backend gets them."""

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    _integers: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False, repr=False)

    def argument(self, name: str) -> Any:
        """Return an input or an attribute, or None where the call omits it."""
        return self.inputs.get(name, self.attributes.get(name))

    def integers(self, name: str) -> tuple[int, ...]:
        """Return every integer in an argument; most members ask for them, of the same calls."""
        if name not in self._integers:
            self._integers[name] = tuple(integers_in(self.argument(name)))
        return self._integers[name]

    def replaced(self, name: str, value: Any) -> "ArrayCall":
        """Return the call with another value of an argument that it gives."""
        if name in self.inputs:
            return ArrayCall({**self.inputs, name: value}, self.attributes)
        return ArrayCall(self.inputs, {**self.attributes, name: value})

    def without(self, name: str) -> "ArrayCall":
        """Return the call with an argument omitted."""
        return ArrayCall(
            {key: each for key, each in self.inputs.items() if key != name},
            {key: each for key, each in self.attributes.items() if key != name},
        )


Outputs: TypeAlias = Sequence[Array]
# The reference: raises what it raises where a call breaks a requirement.
Right: TypeAlias = Callable[[ArrayCall], Outputs]
# What a member makes of a call; None where it does what the reference does.
Answer: TypeAlias = Callable[[ArrayCall, Right], Any]
# The call that a member takes a call for: the same object where it sees no difference.
Change: TypeAlias = Callable[[ArrayCall], ArrayCall]
# How a member has to be watched: each call by itself; calls in a row, each of which may depend on
# those before it; or with an eye on the memory of inputs and outputs as well.
Mode: TypeAlias = Literal["calls", "history", "memory"]


@dataclass(frozen=True)
class Member:
    """A wrong backend: `begin` gives the answers of a fresh one.

    `text` is what it does wrong, as a clause an engineer understands. `rule` is the requirement, by
    full id, that it leaves unchecked.
    """

    name: str
    text: str
    begin: Callable[[], Answer] = field(repr=False)
    mode: Mode = "calls"
    rule: str | None = None


@dataclass(frozen=True)
class Signature:
    """What the members are derived from: the spec, its inputs of data, and its calls.

    The elements of the inputs in `data` mean nothing to the operator. `ranks` and `types` are those
    that valid calls have, by input.
    """

    spec: Spec
    data: tuple[str, ...]
    ranks: Mapping[str, tuple[int, ...]]
    types: Mapping[str, tuple[str, ...]]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The inputs whose elements say what to do."""
        return tuple(each.name for each in self.spec.inputs if each.name not in self.data)

    @property
    def integers(self) -> tuple[str, ...]:
        """The arguments that hold integers: inputs, numbers and lists."""
        plain = (each.name for each in self.spec.attributes if each.type in ("int", "list"))
        return (*self.numbers, *plain)


def computing(name: str, text: str, answer: Answer) -> Member:
    """Return a member that answers each call by itself."""
    return Member(name, text, lambda: answer)


def changing(name: str, text: str, change: Change) -> Member:
    """Return a member that takes a call for another one, before it checks anything."""

    def answer(call: ArrayCall, right: Right) -> Outputs | None:
        changed = change(call)
        return None if changed is call else right(changed)

    return computing(name, text, answer)


def changing_checked(name: str, text: str, change: Change) -> Member:
    """Return a member that checks a call, and then takes it for another one."""

    def answer(call: ArrayCall, right: Right) -> Outputs | None:
        changed = change(call)
        if changed is call:
            return None
        right(call)
        return right(changed)

    return computing(name, text, answer)


def spoiling(name: str, text: str, where: Callable[[ArrayCall, Outputs], bool]) -> Member:
    """Return a member whose last elements are wrong in some calls."""

    def answer(call: ArrayCall, right: Right) -> Outputs | None:
        outputs = right(call)
        return spoiled(outputs) if where(call, outputs) else None

    return computing(name, text, answer)


def rejecting(name: str, text: str, where: Callable[[ArrayCall], bool]) -> Member:
    """Return a member that rejects some calls, valid ones among them."""

    def answer(call: ArrayCall, _: Right) -> None:
        if where(call):
            raise ValueError(text)

    return computing(name, text, answer)


def spoiled(outputs: Outputs) -> Outputs | None:
    """Return copies of outputs with every bit of each last element inverted; None of empty ones."""
    if not any(output.size for output in outputs):
        return None
    copies = [output.copy(order="C") for output in outputs]
    for output in copies:
        if output.size:
            last = output.reshape(-1)[-1:]
            last[...] = invert_bits(last)
    return copies


def whole(value: Any) -> bool:
    """Whether an argument is an array of integers, or an integer that is no boolean."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return isinstance(value, int) and not isinstance(value, bool)


def integers_in(value: Any) -> list[int]:
    """Return every integer in an argument, in order, those of lists and records included."""
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist()) if whole(value) else []
    if isinstance(value, list):
        return [number for each in value for number in integers_in(each)]
    if isinstance(value, dict):
        return [number for each in value.values() for number in integers_in(each)]
    return [value] if whole(value) else []


def with_integers(value: Any, change: Callable[[int], int]) -> Any:
    """Return an argument with every integer in it changed."""
    if isinstance(value, np.ndarray):
        return array_like(value, [change(number) for number in value.ravel().tolist()])
    if isinstance(value, list):
        return [with_integers(each, change) for each in value]
    if isinstance(value, dict):
        return {key: with_integers(each, change) for key, each in value.items()}
    return change(value) if whole(value) else value


def array_like(array: Array, numbers: Sequence[int]) -> Array:
    """Return integers in the shape of an array where they fill it, in a type that holds them."""
    shape = array.shape if array.size == len(numbers) else (len(numbers),)
    limits = np.iinfo(array.dtype)
    fit = all(limits.min <= number <= limits.max for number in numbers)
    dtype = array.dtype if fit else np.dtype(np.int64)
    return np.array(numbers, dtype).reshape(shape)
