"""The roles `axis` and `axes`, in made-up operators that turn data round."""

from pathlib import Path

from tests.roles.made_up import SPECS, derived_rules, random_calls, read

SPEC = SPECS["axes"]


def test_it_requires_axes_that_data_has_once_each(tmp_path: Path) -> None:
    known = derived_rules(tmp_path, SPEC)
    range_, unique = known["axes.range"], known["axes.unique"]
    assert range_.holds == "all(-data.rank <= axis < data.rank for axis in axes.values)"
    assert unique.holds == "len(set(wrap(axis, data.rank) for axis in axes.values)) == axes.size"
    assert range_.when == unique.when == "axes is not None"
    assert unique.prerequisites == ("axes-type", "axes-rank", "axes-range")


def test_an_attribute_needs_no_element_type_and_no_rank(tmp_path: Path) -> None:
    known = derived_rules(tmp_path, SPECS["axes_attribute"])
    assert [*known] == ["required", "axes.range", "axes.unique"]
    assert known["axes.range"].holds == "all(-data.rank <= axis < data.rank for axis in axes)"


def test_axes_that_are_not_negative_are_counted_from_the_front(tmp_path: Path) -> None:
    spec = SPEC.replace("required: false", "required: false, negative: false")
    holds = derived_rules(tmp_path, spec)["axes.range"].holds
    assert holds == "all(0 <= axis < data.rank for axis in axes.values)"
    calls = random_calls(read(tmp_path, spec))
    assert all(
        min(call.inputs["axes"].values or (0,)) >= 0 for call in calls if "axes" in call.inputs
    )


def test_calls_have_both_forms_and_both_signs_of_an_axis(tmp_path: Path) -> None:
    axes = [call.inputs["axis"] for call in random_calls(read(tmp_path, SPECS["axis"]))]
    assert {axis.rank for axis in axes} == {0, 1}
    assert {(axis.values or (0,))[0] < 0 for axis in axes} == {False, True}


def test_there_may_be_no_axes_and_one_as_a_scalar(tmp_path: Path) -> None:
    spec = SPEC.replace("required: false", "required: false, empty: true, scalar: true")
    assert derived_rules(tmp_path, spec)["axes.rank"].holds == "axes.rank <= 1"
    calls = random_calls(read(tmp_path, spec))
    axes = [call.inputs["axes"] for call in calls if "axes" in call.inputs]
    assert {(), (0,), (1,)} <= {tensor.shape for tensor in axes}
