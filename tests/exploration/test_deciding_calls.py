"""Calls beyond the suite separate the possible causes of the same failures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from opcert import Certificate, certify
from opcert.arrays.element_types import Array
from opcert.verdicts.verdict import Verdict
from opcert.verification.verification import verify_certificate
from tests.faults.fault import BROADCAST
from tests.faults.finding import core_suite
from tests.handed_in import Change, changed
from tests.wrong_backends import Right

# In these cases, data has rank 1 if and only if the target has seven more axes.
CONFOUNDED = "broadcast-1/valid-u8-*"
OF_RANK_1, OF_SEVEN_AXES_MORE = (("data_rank", ("1",)),), (("target_shape_added", ("seven",)),)


class Rejects(Right):
    """Rejects the calls whose data and target fulfil a condition."""

    def __init__(self, rejects: Callable[[Array, Array], bool]) -> None:
        self._rejects = rejects

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        if self._rejects(inputs["data"], inputs["target_shape"]):
            raise ValueError("unlucky")
        return super().run(operator, inputs, attributes)


BACKENDS = {
    OF_RANK_1: Rejects(lambda data, _: data.ndim == 1),
    OF_SEVEN_AXES_MORE: Rejects(lambda data, target: target.size - data.ndim == 7),
}


@cache
def certificate(culprit: Any, diagnose: bool) -> Certificate:
    """Return a certificate of the backend whose calls fail under a condition."""
    return certify(
        BACKENDS[culprit], core_suite(), operator=BROADCAST, case=CONFOUNDED, diagnose=diagnose
    )


def conditions(culprit: Any, diagnose: bool) -> tuple[Any, Any, Any]:
    """Return the condition of the only cause, its alternatives, and what was refuted."""
    (cause,) = certificate(culprit, diagnose).causes
    return tuple(
        tuple(tuple((term.factor, term.levels) for term in terms) for terms in of_kind)
        for of_kind in ((cause.condition,), cause.alternatives, cause.refuted)
    )  # type: ignore[return-value]


@pytest.mark.parametrize("culprit", BACKENDS)
def test_without_deciding_calls_a_cause_states_both_conditions(culprit: Any) -> None:
    assert conditions(culprit, False) == ((OF_RANK_1,), (OF_SEVEN_AXES_MORE,), ())
    (cause,) = certificate(culprit, False).causes
    assert cause.statement == (
        "Broadcast-1 rejects valid calls whenever a call has data rank 1 "
        "or, in the same cases, seven axes more"
    )


@pytest.mark.parametrize("culprit", BACKENDS)
def test_deciding_calls_refute_the_condition_that_is_not_the_cause(culprit: Any) -> None:
    (other,) = {*BACKENDS} - {culprit}
    assert conditions(culprit, True) == ((culprit,), (), (other,))


def test_conditions_that_fail_apart_from_each_other_both_remain() -> None:
    backend = Rejects(lambda data, target: data.ndim == 1 or target.size - data.ndim == 7)
    found = certify(backend, core_suite(), operator=BROADCAST, case=CONFOUNDED, diagnose=True)
    assert [len(cause.alternatives) for cause in found.causes] == [1]
    assert {call.kind for call in found.deciding_calls} == {"rejected"}


def test_deciding_calls_change_no_verdict_and_no_conclusion() -> None:
    def untimed(found: Certificate) -> list[Verdict]:
        return [replace(verdict, seconds=0.0) for verdict in found.verdicts]

    plain, diagnosed = certificate(OF_RANK_1, False), certificate(OF_RANK_1, True)
    assert untimed(plain) == untimed(diagnosed)
    assert (plain.conclusion, plain.reasons) == (diagnosed.conclusion, diagnosed.reasons)
    assert diagnosed.deciding_calls
    assert not plain.deciding_calls


def test_a_certificate_with_deciding_calls_is_sound() -> None:
    assert verify_certificate(certificate(OF_SEVEN_AXES_MORE, True), core_suite()) == []


def without_calls(data: Any) -> None:
    data["deciding_calls"] = []


def with_other_results(data: Any) -> None:
    for call in data["deciding_calls"]:
        call["kind"] = None if call["kind"] else "rejected"


def without_inputs(data: Any) -> None:
    for call in data["deciding_calls"]:
        call["call"]["inputs"] = {}


@pytest.mark.parametrize("change", [without_calls, with_other_results, without_inputs])
def test_a_change_of_deciding_calls_is_found(change: Change) -> None:
    findings = verify_certificate(
        changed(certificate(OF_SEVEN_AXES_MORE, True), change), core_suite()
    )
    assert [finding.place.partition(".")[0] for finding in findings] == ["causes"]
