"""What holds of every operator: the reference keeps to the formula, its memory and the rules."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.reference import RuleBroken
from tests.property import broadcasting, dml_split, drawing, gathering, slicing, variadic_split
from tests.property.drawing import Call, DType
from tests.property.oracles import Array, Tensor, described
from tests.property.subject import Subject

SUBJECTS = (
    variadic_split.SUBJECT,
    dml_split.SUBJECT,
    slicing.SUBJECT,
    broadcasting.SUBJECT,
    gathering.SUBJECT,
)
of_each = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.slug)


def of_each_with(
    name: str, values: Callable[[Subject], Iterable[object]], step: int = 1
) -> pytest.MarkDecorator:
    """Try every operator with each of its own values of something; one in `step` is quick."""
    rows = [
        pytest.param(
            subject, value, id=f"{subject.slug}-{value}", marks=pytest.mark.slow if i % step else ()
        )
        for subject in SUBJECTS
        for i, value in enumerate(values(subject))
    ]
    return pytest.mark.parametrize(("subject", name), rows)


def snapshot(call: Call) -> dict[str, Tensor | object]:
    """All there is to know of a call's arguments."""
    return {
        name: described(value) if isinstance(value, np.ndarray) else deepcopy(value)
        for name, value in call.items()
    }


def shared_memory(call: Call, outputs: Sequence[Array]) -> list[tuple[int, int]]:
    """The pairs among a call's inputs and outputs, numbered in this order, that overlap."""
    inputs = [value for value in call.values() if isinstance(value, np.ndarray)]
    numbered = enumerate([*inputs, *outputs])
    return [
        (one, other)
        for (one, first), (other, second) in combinations(numbered, 2)
        if np.shares_memory(first, second)
    ]


def rules_besides(operator: Callable[..., list[Array]]) -> set[str]:
    """The rules that an operator's module spells out, without their prefix."""
    source = inspect.getsource(sys.modules[operator.__module__])
    return set(re.findall(r'"[a-z0-9-]+/([a-z-]+)"', source))


@of_each_with("dtype", lambda subject: subject.types, step=6)
@drawing.FEW
@given(drawn=st.data())
def test_every_data_type_is_moved_by_the_formula(
    subject: Subject, dtype: DType, drawn: st.DataObject
) -> None:
    call = drawn.draw(subject.calls(dtypes=st.just(dtype)))
    assert subject.outputs(call) == subject.formula(**call)


@of_each_with("index_type", lambda subject: subject.index_types, step=6)
@drawing.FEW
@given(drawn=st.data())
def test_every_integer_type_says_where_by_the_formula(
    subject: Subject, index_type: DType, drawn: st.DataObject
) -> None:
    call = drawn.draw(subject.calls(index_types=st.just(index_type)))
    assert subject.outputs(call) == subject.formula(**call)


@of_each_with("rank", lambda subject: subject.ranks, step=3)
@drawing.FEW
@given(drawn=st.data())
def test_every_rank_is_moved_by_the_formula(
    subject: Subject, rank: int, drawn: st.DataObject
) -> None:
    call = drawn.draw(subject.calls(ranks=st.just(rank)))
    assert subject.outputs(call) == subject.formula(**call)


@of_each
@drawing.FEW
@given(drawn=st.data())
def test_no_output_shares_memory_and_inputs_stay_as_they_were(
    subject: Subject, drawn: st.DataObject
) -> None:
    call = drawn.draw(subject.calls())
    before = snapshot(call)
    assert not shared_memory(call, subject.reference(**call))
    assert snapshot(call) == before


@of_each_with("rule", lambda subject: subject.breaches, step=4)
@drawing.FEW
@given(drawn=st.data())
def test_a_breach_is_rejected_by_the_rule_it_breaks(
    subject: Subject, rule: str, drawn: st.DataObject
) -> None:
    call = drawn.draw(subject.breaches[rule])
    with pytest.raises(RuleBroken) as rejection:
        subject.reference(**call)
    assert rejection.value.rule == f"{subject.slug}/{rule}"


@of_each
def test_every_rule_of_the_reference_has_a_breach(subject: Subject) -> None:
    assert rules_besides(subject.reference) <= subject.breaches.keys()
