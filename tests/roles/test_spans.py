"""The roles `spans`, `slicing_steps` and `mask`: slices along axes, and what masks change."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from opcert.roles.slice_part import selection_levels
from opcert.specification.files import with_named_values
from tests.roles.made_up import SPECS, assert_observed, derived_rules, read, unobserved_levels


@pytest.mark.parametrize("name", ["spans", "spans_inputs"])
@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(name: str, profile: str, tmp_path: Path) -> None:
    assert unobserved_levels(read(tmp_path, SPECS[name]), profile) == []


def test_attributes_have_a_slice_for_each_listed_axis(tmp_path: Path) -> None:
    known = derived_rules(tmp_path, SPECS["spans"])
    assert known["begin.length"].holds == (
        "len(end) == len(begin) and (stride is None or len(stride) == len(begin))"
        " and (axes is None or len(axes) == len(begin))"
    )
    assert known["begin.fit"].when == "axes is None"
    assert known["begin.fit"].holds == "len(begin) == data.rank"
    assert known["stride.nonzero"].when == "stride is not None"


def test_inputs_share_a_type_requirement_and_have_a_slice_for_each_axis(
    tmp_path: Path,
) -> None:
    known = derived_rules(tmp_path, SPECS["spans_inputs"])
    assert known["begin.type"].text == (
        "Begin and end are of one of the types i64, i32; stride is of one of the types i64, i16."
    )
    assert known["begin.type"].holds == (
        "(begin is None or begin.type in ['i64', 'i32']) and end.type in ['i64', 'i32']"
        " and (stride is None or stride.type in ['i64', 'i16'])"
    )
    assert known["begin.length"].holds == (
        "(begin is None or begin.size == end.size)"
        " and (stride is None or stride.size == end.size) and end.size == data.rank"
    )
    assert known["begin.length"].prerequisites == ("begin-rank", "end-rank", "stride-rank")


def test_slices_select_what_python_selects() -> None:
    ends = [*range(-8, 9), -(1 << 62), 1 << 62]
    sizes = [1, 2, 3, 7, 1 << 62]
    columns = [*zip(*product(range(7), ends, ends, sizes, [1, -1]), strict=True)]
    levels = selection_levels(*map(np.array, columns))
    for level, (n, start, stop, size, direction) in zip(
        levels, zip(*columns, strict=True), strict=True
    ):
        count = len(range(n)[start : stop : size * direction])
        some = "one" if count == 1 else "some"
        assert level == ("none" if count == 0 else "all" if count == n else some)


def test_calls_have_bits_and_may_omit_steps(tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPECS["slicing_steps"]))
    assert {bit for call in calls for bit in call.attributes["low"]} == {0, 1}
    assert {"step" in call.inputs for call in calls} == {False, True}


def test_named_values_become_variables_of_shapes(tmp_path: Path) -> None:
    spec = read(tmp_path, SPECS["slicing_steps"])
    assert spec.outputs[0].shape == "data.shape[:len(marked)]"
    assert with_named_values(spec).outputs[0].shape == (
        "[(data.shape[:len(marked)]) for marked in "
        "[[k for k in range(start.size) if 1 in new[k:k + 1]]]][0]"
    )
