"""The roles `partition`, `parts` and `lengths`: how an axis is divided, how much of it counts."""

from pathlib import Path

from tests.roles.made_up import SPECS, random_calls, read

SPEC = SPECS["partition"]


def test_the_lengths_of_a_partition_sum_to_the_axis(tmp_path: Path) -> None:
    for call in random_calls(read(tmp_path, SPEC)):
        lengths = call.inputs["sizes"].values or ()
        assert sum(lengths) == call.inputs["data"].shape[call.attributes["axis"]]


def test_a_remainder_adds_requirements(tmp_path: Path) -> None:
    rules = """\
  - {id: one, from: sizes.one-remainder, clause: S}
  - {id: rest, from: sizes.remainder, clause: S}
"""
    # A prerequisite may follow the rule that needs it.
    spec = read(tmp_path, SPEC.replace("along: axis,", "along: axis, remainder: true,") + rules)
    order = [*spec.requirements]
    assert order.index("one") < order.index("sum")
    assert spec.requirements["rest"].when == "-1 in sizes.values"
    calls = random_calls(spec)
    assert any(-1 in (call.inputs["sizes"].values or ()) for call in calls)


def test_the_number_of_parts_divides_the_axis(tmp_path: Path) -> None:
    for call in random_calls(read(tmp_path, SPECS["parts"])):
        number, axis = call.attributes["number"], call.attributes["axis"]
        assert call.inputs["data"].shape[axis] % number == 0


def test_the_number_of_parts_has_a_range(tmp_path: Path) -> None:
    _, number = read(tmp_path, SPECS["parts"]).attributes
    assert number.range == ("1", "data.shape[wrap(axis, data.rank)] or number")


def test_lengths_have_each_type_with_and_without_the_axis(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SPECS["lengths"]))
    assert {call.inputs["lengths"].type for call in calls} == {"i32", "f16", "u8"}
    assert {"column" in call.attributes for call in calls} == {False, True}
