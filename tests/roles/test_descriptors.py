"""The roles `descriptors` and `count`: records that describe outputs, and their number."""

from pathlib import Path

from tests.roles.made_up import SPECS, holds, random_calls, read

SPEC = SPECS["descriptors"]
COUNT = "  - {name: n, role: count, of: parts, surplus: true, type: int, text: N.}\n"


def test_drawn_records_describe_parts_of_data(tmp_path: Path) -> None:
    for call in random_calls(read(tmp_path, SPEC)):
        x, axis, parts = call.inputs["x"], call.attributes["axis"], call.attributes["parts"]
        assert call.attributes["n"] == len(parts)
        assert {part["kind"] for part in parts} == {{"f32": "FLOAT", "u8": "BYTE"}[x.type]}
        assert sum(part["dims"][axis] for part in parts) == x.shape[axis]
        assert all(min(part["dims"]) > 0 for part in parts)


def test_records_after_the_count_do_not_count(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC)
    call = random_calls(spec)[0]
    longer = [*call.attributes["parts"], {"dims": [], "kind": ""}]
    surplus = type(call)(call.inputs, {**call.attributes, "parts": longer})
    (role,) = (role for role in spec.bound_roles if role.name == "parts")
    assert role.values_in(surplus) == role.values_in(call)


def test_without_surplus_the_list_is_as_long_as_the_count(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("surplus: true, ", ""))
    assert holds(spec)["described"] == ("len(parts) == n", ("least",))


def test_without_a_count_all_records_count(tmp_path: Path) -> None:
    lines = SPEC.replace(COUNT, "").replace("count: n", "count: len(parts)").splitlines(True)
    spec = read(tmp_path, "".join(line for line in lines if "from: n." not in line))
    assert holds(spec)["rank"] == ("all(len(record['dims']) == x.rank for record in parts)", ())
    assert random_calls(spec)


def test_an_axis_from_the_end_is_wrapped(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("negative: false, ", ""))
    assert "wrap(axis, x.rank)" in str(holds(spec)["sum"])
    assert any(call.attributes["axis"] < 0 for call in random_calls(spec))
