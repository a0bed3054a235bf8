"""The roles `descriptors` and `count`: records that describe outputs, and their number."""

from pathlib import Path

import pytest

from tests.roles.made_up import assert_observed, holds, mistakes, read

SPEC = """\
types: {T: [f32, u8]}
constants: {NAMES: {f32: FLOAT, u8: BYTE}}
inputs:
  - {name: x, role: data, type: T, rank: [1, 4], empty: false, text: X.}
attributes:
  - {name: n, role: count, of: parts, surplus: true, type: int, text: N.}
  - name: parts
    role: descriptors
    of: x
    along: axis
    sizes: dims
    element_type: kind
    type_names: NAMES
    type: list
    text: P.
  - {name: axis, role: axis, of: x, negative: false, type: int, text: A.}
outputs:
  - {name: y, type: T, count: n, shape: "parts[i]['dims']", text: Y.}
rules:
  - {id: in-range, from: axis.range, clause: A}
  - {id: least, from: n.least, clause: N}
  - {id: described, from: n.described, clause: N}
  - {id: rank, from: parts.rank, clause: P, unbreakable: Not of interest here.}
  - {id: kind, from: parts.element-type, clause: P, unbreakable: Not of interest here.}
  - {id: off, from: parts.off-axis, clause: P, unbreakable: Not of interest here.}
  - {id: sum, from: parts.sum, clause: P, unbreakable: Not of interest here.}
"""
COUNT = "  - {name: n, role: count, of: parts, surplus: true, type: int, text: N.}\n"


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    for call in assert_observed(read(tmp_path, SPEC)):
        x, axis, parts = call.inputs["x"], call.attributes["axis"], call.attributes["parts"]
        assert call.attributes["n"] == len(parts)
        assert {part["kind"] for part in parts} == {{"f32": "FLOAT", "u8": "BYTE"}[x.type]}
        assert sum(part["dims"][axis] for part in parts) == x.shape[axis]
        assert all(min(part["dims"]) > 0 for part in parts)


def test_records_after_the_count_are_not_observed(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC)
    call = assert_observed(spec)[0]
    longer = [*call.attributes["parts"], {"dims": [], "kind": ""}]
    surplus = type(call)(call.inputs, {**call.attributes, "parts": longer})
    (role,) = (role for role in spec.bound_roles if role.name == "parts")
    point = {"axis": call.attributes["axis"]}
    assert role.observe(surplus, point) == role.observe(call, point)


def test_derived_requirements(tmp_path: Path) -> None:
    records, given = "for record in parts[:n]", ("in-range", "rank")
    assert holds(read(tmp_path, SPEC)) == {
        "in-range": ("0 <= axis < x.rank", ()),
        "least": ("n > 0", ()),
        "described": ("len(parts) >= n", ("least",)),
        "rank": (f"all(len(record['dims']) == x.rank {records})", ("described",)),
        "kind": (f"all(record['kind'] == NAMES[x.type] {records})", ("described",)),
        "off": (
            f"all(record['dims'][d] == x.shape[d] {records} for d in range(x.rank) if d != axis)",
            given,
        ),
        "sum": (f"sum(record['dims'][axis] {records}) == x.shape[axis]", given),
    }


def test_without_surplus_the_list_is_as_long_as_the_count(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("surplus: true, ", ""))
    assert holds(spec)["described"] == ("len(parts) == n", ("least",))


def test_without_a_count_all_records_count(tmp_path: Path) -> None:
    lines = SPEC.replace(COUNT, "").replace("count: n", "count: len(parts)").splitlines(True)
    spec = read(tmp_path, "".join(line for line in lines if "from: n." not in line))
    assert holds(spec)["rank"] == ("all(len(record['dims']) == x.rank for record in parts)", ())
    assert_observed(spec)


def test_an_axis_from_the_end_is_wrapped(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("negative: false, ", ""))
    assert "wrap(axis, x.rank)" in str(holds(spec)["sum"])
    assert any(call.attributes["axis"] < 0 for call in assert_observed(spec))


@pytest.mark.parametrize(
    ("old", "new", "place", "text"),
    [
        (
            *("type_names: NAMES", "type_names: NAME"),
            *("NAME", "unknown table of constants 'NAME'; did you mean 'NAMES'?"),
        ),
        (
            *(", u8: BYTE", "", "NAMES"),
            "'NAMES' has no name for u8; expected one for each type of 'x'",
        ),
        ("along: axis", "along: x", "x", "'x' does not have the role axis"),
        (
            *("count, of: parts", "count, of: part", "part, "),
            "unknown argument 'part'; did you mean 'parts'?",
        ),
        (
            "count, of: parts",
            "count, of: x",
            "x, ",
            "'x' does not have the role descriptors or tensors",
        ),
    ],
)
def test_a_wrong_relation_is_reported_at_its_place(
    old: str, new: str, place: str, text: str, tmp_path: Path
) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, old, new)
    assert mistake.startswith(place)
    assert mistake.endswith(f": {text}")
