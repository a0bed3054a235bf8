"""The roles `windows` and `descriptor`: a window of data, and the record of what is copied."""

from pathlib import Path
from typing import Any

import pytest

from tests.roles.made_up import (
    assert_certified,
    assert_fails,
    assert_observed,
    holds,
    mistakes,
    read,
)

SPEC = """\
types: {T: [f32, u8]}
constants: {NAMES: {f32: FLOAT, u8: BYTE}}
inputs: [{name: x, role: data, type: T, rank: [1, 4], empty: false, text: X.}]
attributes:
  - {name: y, role: descriptor, of: x, windows: at, sizes: dims, element_type: kind,
     type_names: NAMES, type: record, text: Y.}
  - {name: at, role: windows, part: offset, of: x, type: list, text: O.}
  - {name: n, role: windows, part: size, of: x, type: list, text: N.}
  - {name: by, role: windows, part: stride, of: x, type: list, text: S.}
outputs: [{name: z, type: T, shape: "y['dims']", text: Z.}]
rules:
  - {id: rank, from: y.rank, clause: Y}
  - {id: kind, from: y.element-type, clause: Y}
  - {id: dims, from: y.extents, clause: Y}
  - {id: at-length, from: at.length, clause: O}
  - {id: n-length, from: n.length, clause: N}
  - {id: by-length, from: by.length, clause: S}
  - {id: within, from: at.within, clause: O}
  - {id: least, from: n.least, clause: N}
  - {id: nonzero, from: by.nonzero, clause: S}
"""
REFERENCE = """\
from opcert.reference import require


def up(x, y, at, n, by):
    require(len(y["dims"]) == x.ndim, "up-1/rank", "")
    require(y["kind"] == {"float32": "FLOAT", "uint8": "BYTE"}[x.dtype.name], "up-1/kind", "")
    for name, numbers in {"at": at, "n": n, "by": by}.items():
        require(len(numbers) == x.ndim, f"up-1/{name}-length", "")
    windows = [*zip(at, n, by, x.shape, y["dims"])]
    require(all(size >= 1 for _, size, *_ in windows), "up-1/least", "")
    require(all(0 <= o <= m - k for o, k, _, m, _ in windows), "up-1/within", "")
    require(all(by), "up-1/nonzero", "")
    few = all(1 <= count <= 1 + (k - 1) // abs(t or 1) for _, k, t, _, count in windows)
    require(few, "up-1/dims", "")
    region = []
    for first, size, stride, _, count in windows:
        first += size - 1 if stride < 0 else 0
        stop = first + count * stride
        region.append(slice(first, stop if stop >= 0 else None, stride))
    return [x[tuple(region)].copy()]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


def test_built_calls_exhibit_their_levels(tmp_path: Path) -> None:
    strides = set()
    for call in assert_observed(read(tmp_path, SPEC), rows=120):
        x, numbers = call.inputs["x"], call.attributes
        windows = zip(numbers["at"], numbers["n"], numbers["by"], x.shape, strict=True)
        most = []
        for offset, size, stride, extent in windows:
            assert 0 <= offset <= extent - size < extent
            most.append(1 + (size - 1) // abs(stride))
            strides.add(stride)
        sizes = zip(numbers["y"]["dims"], most, strict=True)
        assert all(1 <= size <= reached for size, reached in sizes)
        assert numbers["y"]["kind"] == {"f32": "FLOAT", "u8": "BYTE"}[x.type]
    assert strides >= {1, -1, 2, -2, 257, 65537, (1 << 31) - 1}


def test_windows_can_be_tensors(tmp_path: Path) -> None:
    spec = SPEC.replace("types: {T", "types: {I: [i64], T")
    arguments = "".join(spec.splitlines(keepends=True)[6:9])
    spec = spec.replace(arguments, "").replace(
        "x, role: data, type: T, rank: [1, 4], empty: false, text: X.}]",
        "x, role: data, type: T, rank: [1, 4], empty: false, text: X.}, "
        + arguments.replace("list", "I").replace("  - ", "").replace("}\n", "}, ")
        + "]",
    )
    for part in ("at", "n", "by"):
        spec += f"  - {{id: {part}-type, from: {part}.type, clause: T}}\n"
        spec += f"  - {{id: {part}-rank, from: {part}.rank, clause: T}}\n"
    conditions = holds(read(tmp_path, spec))
    assert conditions["nonzero"] == (
        "all(by.values[d] != 0 for d in range(x.rank))",
        ("by-length",),
    )
    assert_observed(read(tmp_path, spec))


def test_derived_requirements(tmp_path: Path) -> None:
    axes, lengths = "for d in range(x.rank)", ("at-length", "n-length", "by-length")
    assert holds(read(tmp_path, SPEC)) == {
        "rank": ("len(y['dims']) == x.rank", ()),
        "kind": ("y['kind'] == NAMES[x.type]", ()),
        "dims": (
            f"all(1 <= y['dims'][d] <= 1 + (n[d] - 1) // abs(by[d]) {axes})",
            ("rank", *lengths, "least", "within", "nonzero"),
        ),
        "at-length": ("len(at) == x.rank", ()),
        "n-length": ("len(n) == x.rank", ()),
        "by-length": ("len(by) == x.rank", ()),
        "within": (f"all(0 <= at[d] <= x.shape[d] - n[d] {axes})", lengths[:2]),
        "least": (f"all(n[d] >= 1 {axes})", ("n-length",)),
        "nonzero": (f"all(by[d] != 0 {axes})", ("by-length",)),
    }


def test_with_surplus_a_list_may_be_longer(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("part: size, of: x", "part: size, of: x, surplus: true"))
    assert holds(spec)["n-length"] == ("len(n) >= x.rank", ())
    call = assert_observed(spec)[0]
    longer = type(call)(call.inputs, {**call.attributes, "n": [*call.attributes["n"], 0]})
    for role in spec.bound_roles:
        assert role.observe(longer, {"axis": 0}) == role.observe(call, {"axis": 0})


def test_sizes_by_an_expression(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("windows: at", 'extents: "[1 for size in n]"'))
    assert holds(spec)["dims"] == ("list(y['dims']) == list([1 for size in n])", ("rank",))
    for call in assert_observed(spec):
        assert call.attributes["y"]["dims"] == [1] * call.inputs["x"].rank


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("first += size - 1 if stride < 0 else 0", "pass"),
        ("first += size - 1 if", "first += size if"),
        ("stop if stop >= 0 else None, stride", "stop if stop >= 0 else None, stride % 256 or 1"),
        ("stop if stop >= 0 else None, stride", "stop, stride"),
        ("*zip(at, n, by, ", "*zip(at, n, [*by[:3], 1], "),
        ("first + count * stride", "first + (1 + (size - 1) // abs(stride)) * stride"),
        ("1 <= count <= 1 + (k - 1) // abs(t or 1)", "count <= 1 + (k - 1) // abs(t or 1)"),
        ("1 <= count <= 1 + (k - 1) // abs(t or 1)", "1 <= count <= k"),
        ("0 <= o <= m - k", "0 <= o <= m"),
        ("0 <= o <= m - k", "o <= m - k"),
        ("require(len(y[", "y = {**y, 'dims': y['dims'][: x.ndim]}\n    require(len(y["),
    ],
)
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


@pytest.mark.parametrize(
    ("old", "new", "place", "text"),
    [
        (
            *("windows: at, ", "", "dims"),
            "nothing determines 'dims'; expected 'extents' or 'windows'",
        ),
        (
            *("windows: at", "extents: x.shape, windows: at", "at"),
            "both 'extents' and 'windows'; expected one of them",
        ),
        ("windows: at", "extents: z", "z", "unknown name 'z' in 'z'"),
        ("windows: at", "windows: x", "x", "'x' does not have the role windows"),
        ("type_names: NAMES", "type_names: NAME", "NAME", "unknown table of constants 'NAME'"),
        ("part: size", "part: offset", "offset", "duplicate offset of 'x'; the first is 'at'"),
        (
            *("part: stride", "part: size", "offset"),
            "missing stride of 'x'; expected an argument with 'role: windows' and 'part: stride'",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_at_its_place(
    old: str, new: str, place: str, text: str, tmp_path: Path
) -> None:
    found: Any = mistakes(tmp_path, SPEC, old, new)
    assert any(mistake.startswith(place) and text in mistake for mistake in found), found
