"""The roles `spans`, `slicing_steps` and `mask`: slices along axes, and what masks change."""

from pathlib import Path

from opcert.specification.files import with_named_values
from tests.roles.made_up import SPECS, derived_rules, random_calls, read


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


def test_calls_have_bits_and_may_omit_steps(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SPECS["slicing_steps"]))
    assert {bit for call in calls for bit in call.attributes["low"]} == {0, 1}
    assert {"step" in call.inputs for call in calls} == {False, True}


def test_named_values_become_variables_of_shapes(tmp_path: Path) -> None:
    spec = read(tmp_path, SPECS["slicing_steps"])
    assert spec.outputs[0].shape == "data.shape[:len(marked)]"
    assert with_named_values(spec).outputs[0].shape == (
        "[(data.shape[:len(marked)]) for marked in "
        "[[k for k in range(start.size) if 1 in new[k:k + 1]]]][0]"
    )
