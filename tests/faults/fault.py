"""A fault: a backend that is wrong in one way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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

# Processes that make faults start quickly, since it reads no spec.
_REFERENCE = Right()


@dataclass(frozen=True)
class Call:
    """One call of an operator."""

    inputs: Mapping[str, Array]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Array:
        """The first input, whose elements the operator moves."""
        return next(iter(self.inputs.values()))

    def __getitem__(self, name: str) -> Array:
        return self.inputs[name]

    def ints(self, name: str) -> list[int]:
        """Return the elements of an input, in order, as Python's integers."""
        found: list[int] = self.inputs[name].ravel().tolist()
        return found

    def moving(self, data: Array) -> "Call":
        """Return the call with other data to move."""
        return self.given(**{next(iter(self.inputs)): data})

    def given(self, **inputs: Array) -> "Call":
        """Return the call with other inputs."""
        return replace(self, inputs={**self.inputs, **inputs})

    def with_attributes(self, **attributes: Any) -> "Call":
        """Return the call with other attributes."""
        return replace(self, attributes={**self.attributes, **attributes})

    def without(self, *names: str) -> "Call":
        """Return the call with inputs or attributes left out."""
        return replace(
            self,
            inputs={name: each for name, each in self.inputs.items() if name not in names},
            attributes={name: each for name, each in self.attributes.items() if name not in names},
        )


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


def right(operator: str, call: Call) -> Outputs:
    """Return the outputs of the reference.

    Raises:
        RuleBroken: the call breaks a rule.
    """
    return [*_REFERENCE.run(operator, call.inputs, call.attributes)]


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

        def compute(call: Call) -> Outputs:
            right(self.operator, call)
            return right(self.operator, change(call))

        return self.computes(name, compute)

    def keeps(self, name: str, begin: Callable[[], Change]) -> Fault:
        """Write down a backend that keeps something of its calls, and changes outputs by it."""

        def make() -> Compute:
            change = begin()
            return lambda call: change(call, right(self.operator, call))

        return self.remembers(name, make)

    def returns(self, name: str, change: Change) -> Fault:
        """Write down a backend that makes something else of the right outputs."""
        return self.keeps(name, lambda: change)

    def spoils(self, name: str, where: Change) -> Fault:
        """Write down a backend whose last elements are wrong in some calls."""
        return self.returns(name, lambda call, out: spoiled(out) if where(call, out) else out)

    def rejects(self, name: str, where: Change) -> Fault:
        """Write down a backend that rejects some valid calls."""
        return self._raises(ValueError, name, where)

    def declines(self, name: str, where: Change) -> Fault:
        """Write down a backend that does not support some calls, and never declares it."""
        return self._raises(NotImplementedError, name, where)

    def _raises(self, error: type[Exception], name: str, where: Change) -> Fault:
        def compute(call: Call, outputs: Outputs) -> Outputs:
            if where(call, outputs):
                raise error(name)
            return outputs

        return self.returns(name, compute)

    def accepts(self, rule: str, name: str, where: Where) -> Fault:
        """Write down a backend that does not notice some calls which break `rule`."""
        full = f"{SLUGS[self.operator]}/{rule}"

        def compute(call: Call) -> Outputs:
            try:
                return right(self.operator, call)
            except RuleBroken as broken:
                if broken.rule != full or not where(call):
                    raise
            return [each.copy() for each in call.inputs.values()][:1]

        return replace(self.computes(f"accepts-{rule}-{name}", compute), rule=full)
