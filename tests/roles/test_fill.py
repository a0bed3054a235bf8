"""The role `fill`: an operator that pads data with a value, and wrong implementations of it."""

from pathlib import Path

from tests.roles.made_up import SPECS, holds, mistakes, random_calls, read

SPEC = SPECS["fill"]


def test_fills_have_the_type_of_data_and_both_forms(tmp_path: Path) -> None:
    values = [
        (call.inputs["data"].type, call.inputs.get("value"))
        for call in random_calls(read(tmp_path, SPEC), 150)
    ]
    assert all(value is None or value.type == element_type for element_type, value in values)
    assert {value and value.shape for _, value in values} == {None, (), (1,)}
    assert {value and value.uniform for _, value in values} == {None, "no", "zero"}


def test_derived_requirements(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC)
    assert holds(spec)["type"] == ("value.type == data.type", ())
    assert holds(spec)["form"] == ("value.shape in [(), (1,)]", ())
    assert {spec.requirements[rule].when for rule in ("type", "form")} == {"value is not None"}


def test_another_type_symbol_is_reported_at_its_place(tmp_path: Path) -> None:
    spec = SPEC.replace("types: {T: [f32, u8]}", "types: {T: [f32, u8], V: [f32]}")
    (mistake,) = mistakes(tmp_path, spec, "type: T, text: V.", "type: V, text: V.")
    assert mistake.startswith("V")
    assert mistake.endswith(": type symbol 'V' differs from that of 'data'; expected 'T'")


OF_ONE_MODE = SPECS["fill_of_one_mode"]


def test_a_fill_of_one_mode_is_omitted_in_the_others(tmp_path: Path) -> None:
    spec = read(tmp_path, OF_ONE_MODE)
    assert spec.requirements["type"].when == "how == 'plain' and value is not None"
    assert holds(spec)["form"][1] == ("word",)
    calls = random_calls(spec, 150)
    given = {(call.attributes.get("how"), "value" in call.inputs) for call in calls}
    assert given == {
        (None, True),
        (None, False),
        ("plain", True),
        ("plain", False),
        ("edge", False),
    }
