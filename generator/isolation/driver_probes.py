"""Suite + declaration -> the calls that try how a driver speaks, whatever it computes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, FOUR_BIT_TYPES, Array
from opcert.scope import Support
from opcert.specification import load_references
from opcert.suite import IndexedCase, OperatorSuite, Suite

# How many bytes a large array has at least, and how many calls are tried to make such outputs of.
_LARGE = 1 << 24
_TRIED = 20
_UNKNOWN = "opcert/no-such-operator"
# What reading JSON by hand mostly misses.
_ODD: Mapping[str, Any] = {
    "text": 'a "quoted" \\ back slash,\na new line, {[ and é \U0001f600',
    "integers": [0, -(2**63), 2**63 - 1],
    "nested": [[], [{"a": [True, False, None]}], {}],
    "fraction": -1.5e-3,
}
_Wanted = Callable[[IndexedCase], bool]


@dataclass(frozen=True)
class Probe:
    """One call, and how it may be answered; None where a driver has declared none like it."""

    what: str
    operator: str
    inputs: Mapping[str, Array] | None
    attributes: Mapping[str, Any]
    answers: tuple[str, ...] = ("outputs", "rejected", "unsupported")


def probes(suite: Suite, support: Support) -> Iterator[Probe]:
    """Yield a plain call of each operator, then calls that are empty, large or of each type."""
    chosen = _Chosen(suite, support)
    for operator in suite.operators.values():
        yield chosen.of_operator(operator)
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    large = np.zeros(_LARGE, np.uint8)
    yield Probe("an unknown operator", _UNKNOWN, {"data": data}, {}, ("unsupported",))
    yield Probe("odd attributes", _UNKNOWN, {"data": data}, _ODD, ("unsupported",))
    yield Probe("no inputs", _UNKNOWN, {}, {}, ("unsupported",))
    yield Probe("16 MB, unknown", _UNKNOWN, {"data": large}, {}, ("unsupported",))
    yield chosen.first("a call to reject", lambda case: case.expects == "rejection")
    valid = "a valid call behind it"
    yield chosen.first(valid, _valid)
    yield chosen.first(f"{valid}, again", _valid)
    yield chosen.first("an empty input", _is_empty)
    yield chosen.first("an input of rank 0", _has_a_scalar)
    for name in ELEMENT_TYPES:
        yield chosen.of_type(name)
    yield chosen.large()


def _valid(case: IndexedCase) -> bool:
    return case.expects == "outputs"


def _is_empty(case: IndexedCase) -> bool:
    return _valid(case) and any(0 in each.shape for each in case.inputs.values())


def _has_a_scalar(case: IndexedCase) -> bool:
    return _valid(case) and any(each.shape == () for each in case.inputs.values())


class _Chosen:
    """The cases of a suite that a driver declares to support, in an order of its own."""

    def __init__(self, suite: Suite, support: Support) -> None:
        self._suite = suite
        self._cases = [
            (operator, case)
            for operator, case in suite
            if case.ambiguity is None
            and not support.exclusion_reason(operator.index.operator, case)
        ]

    def of_operator(self, operator: OperatorSuite) -> Probe:
        """Return a valid call of an operator, one that is declared if there is any."""
        cases = [case for of, case in self._cases if of is operator and _valid(case)]
        case = next(iter([*cases, *filter(_valid, operator.index.cases)]))
        return _probe(operator.index.operator, operator, case)

    def first(self, what: str, wanted: _Wanted) -> Probe:
        """Return the first call that is as wanted."""
        for operator, case in self._cases:
            if wanted(case):
                return _probe(f"{what}: {case.id}", operator, case)
        return Probe(what, "", None, {})

    def of_type(self, name: str) -> Probe:
        """Return a call with data of a type; half a byte is cut from a whole one."""
        whole = "u8" if name in FOUR_BIT_TYPES else name
        found = self.first(name, lambda case: _valid(case) and _moves(case, whole))
        if found.inputs is None or whole == name:
            return found
        first, data = next(iter(found.inputs.items()))
        half = (data & 15).view(ELEMENT_TYPES[name])
        inputs = {**found.inputs, first: half}
        what = f"{found.what}, cut from {whole}"
        return Probe(what, found.operator, inputs, found.attributes)

    def large(self) -> Probe:
        """Return a call of which inputs and outputs are large."""
        references = load_references(None)
        candidates = ((of, case) for of, case in self._cases if _valid(case) and case.data_inputs)
        for operator, case in islice(candidates, _TRIED):
            reference = references.get(operator.index.operator)
            for inputs in _enlarged(operator.inputs(case)):
                try:
                    made = reference(**inputs, **case.attributes) if reference else []
                except Exception:  # noqa: S112 -- longer along this axis, it is no valid call
                    continue
                if sum(each.nbytes for each in made) >= _LARGE:
                    what = f"16 MB, both ways: {case.id}, made larger"
                    return Probe(what, operator.index.operator, inputs, case.attributes)
        return Probe("16 MB, both ways", "", None, {})


def _moves(case: IndexedCase, name: str) -> bool:
    return case.type == name and next(iter(case.inputs)) in case.data_inputs


def _enlarged(inputs: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """Yield inputs of which the first is as large as it has to be, along each of its axes."""
    first, data = next(iter(inputs.items()))
    if data.nbytes:
        for axis in range(data.ndim):
            repeated = np.repeat(data, -(-_LARGE // data.nbytes), axis=axis)
            yield {**inputs, first: repeated}


def _probe(what: str, operator: OperatorSuite, case: IndexedCase) -> Probe:
    return Probe(what, operator.index.operator, operator.inputs(case), case.attributes)
