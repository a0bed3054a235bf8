"""The readings of the documents, as backends: what a document leaves open fails none of them.

Where a document does not decide a call, a backend may do as it likes with it and is certified;
where it decides, the difference is found.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from opcert.arrays import calls
from opcert.arrays.calls import flatten_variadic, group_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.arrays.patterns import materialize_numbered
from opcert.cases.candidates import CandidateSearch
from opcert.cases.case import MistakeLog
from opcert.cases.conditions import Conditions
from opcert.cases.generation import PositiveCases
from opcert.settings import PROFILES
from opcert.specs import CORE_OPERATORS
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from tests.faults.fault import BROADCAST, SLICE, Call, Compute, Wrong, right
from tests.faults.finding import core_suite, whole_core_suite
from tests.operators.planted import first_failure
from tests.readings import core, decided, others
from tests.shipped import at_length, each_core_spec, spec, suite

READINGS: defaultdict[str, dict[str, Compute]] = defaultdict(dict)
for operator, name, compute in (*core.OPEN, *others.OPEN):
    READINGS[operator][name] = compute


def whole_suite(operator: str) -> Suite:
    """Return the core suite that comes with opcert, or a short one of another operator."""
    return whole_core_suite() if operator in CORE_OPERATORS else suite(operator)


def conditions_of(operator: str) -> Conditions:
    return Conditions(spec(operator.partition("/")[2]).spec)


def described(call: Call) -> calls.Call:
    """Return a call as conditions see it."""
    tensors = {}
    for key, item in flatten_variadic(call.inputs).items():
        is_moved = key.partition("[")[0] in others.MOVED
        values = None if is_moved else tuple(item.ravel().tolist())
        tensors[key] = calls.Tensor(type_name(item.dtype), item.shape, values)
    return calls.Call(tensors, call.attributes)


def as_compared(outputs: Iterable[Array]) -> list[tuple[np.dtype, tuple[int, ...], bytes]]:
    return [(output.dtype, output.shape, output.tobytes()) for output in outputs]


def outcome(compute: Compute, call: Call) -> Any:
    """Return the outputs as they are compared, and as they are; nothing for a rejection."""
    # Whatever a backend raises is a rejection.
    with suppress(Exception):
        outputs = compute(call)
        return as_compared(outputs), outputs
    return None, None


@at_length("operator", zip(READINGS))
def test_no_reading_of_what_a_document_leaves_open_fails(operator: str) -> None:
    """One run tries every reading: the backend does what the first does that differs."""
    conditions, answered, differing = conditions_of(operator), set(), set()

    def otherwise(call: Call) -> Any:
        ambiguity = conditions.ambiguity(described(call))
        if ambiguity is None:
            return right(operator, call)
        answered.add(ambiguity)
        with suppress(ValueError):
            right(operator, call)
            raise ArithmeticError("it is open whether this call is valid")
        return [np.zeros(1)]

    readings = {**READINGS[operator], "otherwise": otherwise}

    def differently(call: Call) -> Any:
        expected, outputs = outcome(partial(right, operator), call)
        answers = [outputs]
        for name, compute in readings.items():
            found, outputs = outcome(compute, call)
            if found != expected:
                differing.add(name)
                answers.append(outputs)
        if (answer := answers[:2][-1]) is None:
            raise ValueError("not a call of this reading")
        return answer

    failure = first_failure(operator, differently, suite(operator))
    assert failure is None, (failure, differing)
    assert answered == {each.id for each in conditions.spec.call_ambiguities}
    # Of updates of boolean data, only candidates for negative cases could go wrong.
    assert differing | {"updates-booleans"} >= readings.keys()


@pytest.mark.slow
@pytest.mark.parametrize("operator", CORE_OPERATORS)
def test_no_reading_fails_a_case_of_the_suite_that_comes_with_opcert(operator: str) -> None:
    whole, failing = whole_core_suite().operators[operator], []
    for case in whole.cases.values():
        call = Call(group_variadic(whole.inputs(case)), case.attributes)
        expected = as_compared(whole.outputs(case)) if case.expects == "outputs" else None
        for name, compute in READINGS[operator].items() if case.ambiguity is None else ():
            if outcome(compute, call)[0] != expected:
                failing.append((case.id, name))
    assert failing == []


@pytest.mark.slow
@pytest.mark.parametrize("operator", READINGS)
def test_every_candidate_for_a_negative_case_is_invalid_in_every_reading(operator: str) -> None:
    """Of the calls that break a requirement, a suite has a few; another seed has others."""
    file, seed = spec(operator.partition("/")[2]), 1
    mistakes = MistakeLog(file)
    conditions = Conditions(file.spec)
    author = PositiveCases(conditions, seed, mistakes)
    drawn = author.drawn(PROFILES["core"])
    valid = [case for case in (*author.examples(), *drawn) if case.ambiguity is None]
    search = CandidateSearch(conditions, PROFILES["core"], seed, valid, mistakes)
    accepted = []
    for rule, candidates in search.candidates().items():
        for candidate in candidates if rule in file.spec.requirements else ():
            inputs = group_variadic(
                {name: materialize_numbered(item) for name, item in candidate.call.inputs.items()}
            )
            call = Call(inputs, candidate.call.attributes)
            for name, compute in READINGS[operator].items():
                if outcome(compute, call)[1] is not None:
                    accepted.append((rule, name, candidate.change.name, str(candidate.call)[:200]))
    assert accepted == []


@at_length("operator, compute, rule", [(o, c, r) for o, _, c, r in core.DECIDED + decided.DECIDED])
def test_what_contradicts_its_document_fails_by_the_rule(
    operator: str, compute: Compute, rule: str
) -> None:
    whole = whole_suite(operator)
    run = Certification(Wrong("wrong", operator, compute), whole)
    # The cases of the rule alone, since some calls of others would fill the memory if they passed.
    cases = whole.operators[operator].cases.values()
    verdicts = (
        run.verdict(case.id) for case in cases if any(name.endswith(rule) for name in case.rules)
    )
    assert any(verdict.status == "fail" and verdict.kind != "bits" for verdict in verdicts)


@pytest.mark.slow
def test_most_explicit_calls_without_a_mapping_are_ones_that_numpys_alignment_accepts() -> None:
    (compute,) = (c for _, name, c, _ in core.DECIDED if name.startswith("aligns-at-the-end"))
    run = Certification(Wrong("wrong", BROADCAST, compute), core_suite())
    rule = "explicit-with-axes-mapping"
    cases = core_suite().operators[BROADCAST].cases.values()
    deciding = [case.id for case in cases if case.violated_rule == f"broadcast-1/{rule}"]
    statuses = Counter(run.verdict(case).status for case in deciding)
    # A call that this alignment rejects, too, is invalid in any reading.
    assert {*statuses} <= {"fail", "pass", "implementation-defined"}
    assert statuses["pass"] < statuses["fail"] / 4


@each_core_spec
def test_a_case_of_an_ambiguity_violates_only_rules_of_that_ambiguity(name: str) -> None:
    operator = spec(name).spec.operator
    suite, conditions = core_suite().operators[operator], conditions_of(operator)
    ambiguities = {conditions.spec.full_id(each.id): each for each in conditions.spec.ambiguities}
    for case in suite.cases.values():
        if case.ambiguity is None:
            continue
        call = described(Call(suite.inputs(case), case.attributes))
        violated = conditions.check(call).violated
        assert (case.expects == "rejection") == bool(violated)
        assert set(violated) <= set(ambiguities[case.ambiguity].breaks)


def test_a_stop_reaches_the_end_only_where_its_type_does() -> None:
    suite = core_suite().operators[SLICE]
    cases = [case for case in suite.cases.values() if "slice-8/to-the-end" in case.rules]
    assert cases
    for case in cases:
        inputs = suite.inputs(case)
        stop, step, data = inputs["stop"], inputs["step"], inputs["data"]
        least, most = np.iinfo(stop.dtype).min, np.iinfo(stop.dtype).max
        axes = inputs["axes"].tolist() if "axes" in inputs else range(stop.size)
        spans = zip(stop.tolist(), step.tolist(), (data.shape[axis] for axis in axes), strict=True)
        assert any(
            (by > 0 and end == most >= n) or (by < 0 and end == least < -n) for end, by, n in spans
        )
