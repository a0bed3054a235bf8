"""A fault: a backend that is wrong in one way."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from opcert.arrays.element_types import Array
from opcert.backends.contract import Backend
from opcert.reference import RuleBroken
from tests.wrong_backends import Right

SPLIT = "openvino/VariadicSplit-1"
DML = "directml/DML_OPERATOR_SPLIT"
SLICE = "openvino/Slice-8"
BROADCAST = "openvino/Broadcast-1"
GATHER = "openvino/Gather-8"
SLUGS = {
    SPLIT: "variadic-split-1",
    DML: "dml-split",
    SLICE: "slice-8",
    BROADCAST: "broadcast-1",
    GATHER: "gather-8",
}
OPERATORS = tuple(SLUGS)


@dataclass(frozen=True)
class Call:
    """One call of an operator."""

    # A list of arrays for each variadic input.
    inputs: Mapping[str, Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Array:
        """The first input, whose elements the operator moves."""
        data: Array = next(iter(self.inputs.values()))
        return data

    def __contains__(self, name: str) -> bool:
        return name in self.inputs or name in self.attributes

    def __getitem__(self, name: str) -> Any:
        return self.inputs[name] if name in self.inputs else self.attributes[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return an argument, or `default` where it is omitted."""
        return {**self.inputs, **self.attributes}.get(name, default)

    def ints(self, name: str) -> list[int]:
        """Return the elements of an input, in order, as Python's integers."""
        found: list[int] = self.inputs[name].ravel().tolist()
        return found

    def moving(self, data: Array) -> "Call":
        """Return the call with other data to move."""
        return self.given(**{next(iter(self.inputs)): data})

    def given(self, **arguments: Any) -> "Call":
        """Return the call with other arguments; a further array is an input."""
        inputs, attributes = dict(self.inputs), dict(self.attributes)
        for name, value in arguments.items():
            is_input = name in inputs or (isinstance(value, np.ndarray) and name not in attributes)
            (inputs if is_input else attributes)[name] = value
        return Call(inputs, attributes)

    def without(self, *names: str) -> "Call":
        """Return the call with arguments left out."""
        parts = (self.inputs, self.attributes)
        return Call(*({n: each for n, each in part.items() if n not in names} for part in parts))


# What a backend returns may be of any type, and wrong.
Compute: TypeAlias = Callable[[Call], Any]
Outputs: TypeAlias = list[Array]
Where: TypeAlias = Callable[[Call], Any]
# What becomes of a call's right outputs, or whether something does.
Change: TypeAlias = Callable[[Call, Outputs], Any]


@dataclass(frozen=True)
class Fault:
    """A plausible mistake of a runtime: `make` gives a fresh backend that makes it.

    `rule` is the requirement that a missing validation leaves unchecked.
    """

    name: str
    operator: str
    mechanism: str
    make: Callable[[], Backend] = field(repr=False)
    rule: str | None = None


class Wrong:
    """The reference but for one operator, which `compute` computes."""

    version = "1"

    def __init__(self, name: str, operator: str, compute: Compute) -> None:
        self.name = name
        self._operator = operator
        self._compute = compute

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        call = Call(inputs, attributes)
        if operator != self._operator:
            return right(operator, call)
        with np.errstate(all="ignore"):
            outputs: Sequence[Array] = self._compute(call)
        return outputs


@cache
def _reference(operator: str) -> Backend:
    """Return the reference; that of core operators is quick to start, since it reads no spec."""
    if operator in OPERATORS:
        return Right()
    from opcert.backends.reference import Reference

    return Reference()


def right(operator: str, call: Call) -> Outputs:
    """Return the outputs of the reference.

    Raises:
        RuleBroken: the call breaks a rule.
    """
    return [*_reference(operator).run(operator, call.inputs, call.attributes)]


def changing(operator: str, change: Change) -> Compute:
    """Return what rejects invalid calls, and makes something else of the right outputs."""
    return lambda call: change(call, right(operator, call))


def rejecting(operator: str, where: Change, error: type[Exception] = ValueError) -> Compute:
    """Return what rejects some valid calls, too."""

    def change(call: Call, outputs: Outputs) -> Outputs:
        if where(call, outputs):
            raise error("not supported")
        return outputs

    return changing(operator, change)


def accepting(operator: str, rule: str, instead: Compute) -> Compute:
    """Return what computes something for a call that breaks `rule`."""

    def compute(call: Call) -> Any:
        try:
            return right(operator, call)
        except RuleBroken as broken:
            if broken.rule.partition("/")[2] != rule:
                raise
            return instead(call)

    return compute


def given_axis(call: Call) -> int:
    """Return the axis as it is given, in an input or in DirectML's attribute."""
    if "axis" in call.inputs:
        return int(call["axis"].item())
    found: int = call.attributes["Axis"]
    return found


def axis_of(call: Call) -> int:
    """Return the axis of a valid call, counted from the front."""
    return given_axis(call) % call.data.ndim


def extent_of(call: Call) -> int:
    """Return how long data is on the axis of a valid call."""
    extent: int = call.data.shape[axis_of(call)]
    return extent


def slices(call: Call) -> list[tuple[int, int, int, int]]:
    """Return the axis, start, stop and step of each slice of a valid call of Slice."""
    axes = call.ints("axes") if "axes" in call else range(call["start"].size)
    return list(zip(axes, *map(call.ints, ("start", "stop", "step")), strict=True))


def spoiled(outputs: Outputs) -> Outputs:
    """Return the outputs with every bit of each one's last element the other way round."""
    for output in outputs:
        if output.size:
            last = output.reshape(-1)[-1:].view(np.uint8)
            last[...] = last ^ 1 if output.dtype == np.bool_ else ~last
    return outputs


def the_right_one(operator: str) -> Fault:
    """Return what is no fault: the reference itself."""
    name = f"{SLUGS[operator]}/none"
    make = partial(Wrong, name, operator, partial(right, operator))
    return Fault(name, operator, "none", make)


@dataclass(frozen=True)
class Writer:
    """Writes down faults of one operator that have one mechanism."""

    operator: str
    mechanism: str

    def remembers(self, name: str, make: Callable[[], Compute]) -> Fault:
        """Write down a backend that has a state, which `make` begins."""
        full = f"{SLUGS[self.operator]}/{name}"
        return Fault(
            full, self.operator, self.mechanism, lambda: Wrong(full, self.operator, make())
        )

    def computes(self, name: str, compute: Compute) -> Fault:
        """Write down a backend that computes something else."""
        return self.remembers(name, lambda: compute)

    def changes(self, name: str, change: Callable[[Call], Call]) -> Fault:
        """Write down a backend that takes a valid call for another one."""
        return self.returns(name, lambda call, _: right(self.operator, change(call)))

    def keeps(self, name: str, begin: Callable[[], Change]) -> Fault:
        """Write down a backend that keeps something of its calls, and changes outputs by it."""
        return self.remembers(name, lambda: changing(self.operator, begin()))

    def returns(self, name: str, change: Change) -> Fault:
        """Write down a backend that makes something else of the right outputs."""
        return self.computes(name, changing(self.operator, change))

    def spoils(self, name: str, where: Change) -> Fault:
        """Write down a backend whose last elements are wrong in some calls."""
        return self.returns(name, lambda call, out: spoiled(out) if where(call, out) else out)

    def rejects(self, name: str, where: Change) -> Fault:
        """Write down a backend that rejects some valid calls."""
        return self.computes(name, rejecting(self.operator, where))

    def declines(self, name: str, where: Change) -> Fault:
        """Write down a backend that does not support some calls, and never declares it."""
        return self.computes(name, rejecting(self.operator, where, NotImplementedError))

    def accepts(self, rule: str, name: str, where: Where) -> Fault:
        """Write down a backend that does not notice some calls which break `rule`."""

        def instead(call: Call) -> Outputs:
            if not where(call):
                return right(self.operator, call)
            return [each.copy() for each in call.inputs.values()][:1]

        fault = self.computes(f"accepts-{rule}-{name}", accepting(self.operator, rule, instead))
        return replace(fault, rule=f"{SLUGS[self.operator]}/{rule}")


# How a fault is written down, its name, and what is wrong.
Row: TypeAlias = tuple[Callable[[Writer, str, Any], Fault], str, Any]


def of_each(operators: Iterable[str], mechanism: str, *rows: Row) -> list[Fault]:
    """Write down the same faults of several operators."""
    return [
        write(Writer(operator, mechanism), name, wrong)
        for operator in operators
        for write, name, wrong in rows
    ]
