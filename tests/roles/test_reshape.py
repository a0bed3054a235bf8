"""The role `reshape`: an operator that reshapes data, and wrong implementations of it."""

from pathlib import Path

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
types: {T: [f32, u8], S: integer}
inputs:
  - {name: data, role: data, type: T, rank: [0, 4], text: Data.}
  - {name: sizes, role: reshape, of: data, copies: keeps, most: 5, type: S, text: Sizes.}
attributes:
  - {name: keeps, role: flag, required: false, default: true, text: Whether 0 copies a size.}
outputs:
  - name: output
    type: T
    shape: "[data.size // prod(known) if n == -1 else n for known in [[m for m in full if m != -1]] for n in full]"
    text: The elements of data.
rules:
  - {id: integers, from: sizes.type, clause: S}
  - {id: list, from: sizes.rank, clause: S}
  - {id: least, from: sizes.least, clause: S}
  - {id: one, from: sizes.one-inferred, clause: S}
  - {id: copied, from: sizes.copied, clause: S}
  - {id: elements, from: sizes.size, clause: S}
  - {id: rest, from: sizes.inferred, clause: S}
  - {id: moved, clause: S, text: Elements keep their order., holds: len(outputs) == 1}
"""  # noqa: E501
_FULL = "[data.shape[k] if keeps and n == 0 else n for k, n in enumerate(sizes.values)]"
SPEC = SPEC.replace("in full if", f"in {_FULL} if").replace("for n in full]", f"for n in {_FULL}]")
REFERENCE = """\
from math import prod

from opcert.reference import require


def up(data, sizes, keeps=True):
    require(sizes.dtype.kind in "iu", "up-1/integers", "")
    require(sizes.ndim == 1, "up-1/list", "")
    sizes = sizes.tolist()
    require(min(sizes, default=0) >= -1, "up-1/least", "")
    require(sizes.count(-1) < 2, "up-1/one", "")
    if keeps:
        require(0 not in sizes[data.ndim :], "up-1/copied", "")
        sizes = [data.shape[k] if n == 0 else n for k, n in enumerate(sizes)]
    known = prod(n for n in sizes if n != -1)
    require(-1 in sizes or known == data.size, "up-1/elements", "")
    require(-1 not in sizes or (known and data.size % known == 0), "up-1/rest", "")
    return [data.copy().reshape([data.size // known if n == -1 else n for n in sizes])]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(profile: str, tmp_path: Path) -> None:
    calls = assert_observed(read(tmp_path, SPEC), profile)
    targets = [call.inputs["sizes"].values or () for call in calls]
    assert any(-1 in target for target in targets)
    assert any(0 in target for target in targets)


def test_a_role_without_a_flag_copies_nothing(tmp_path: Path) -> None:
    spec = SPEC.replace("copies: keeps, ", "").replace(
        "  - {id: copied, from: sizes.copied, clause: S}\n", ""
    )
    spec = spec.replace(_FULL, "sizes.values")
    for call in assert_observed(read(tmp_path, spec)):
        assert 0 not in (call.inputs["sizes"].values or ()) or not call.inputs["data"].size


def test_derived_requirements(tmp_path: Path) -> None:
    conditions = holds(read(tmp_path, SPEC))
    assert conditions["least"] == ("all(size >= -1 for size in sizes.values)", ("integers", "list"))
    assert conditions["copied"][0] == "all(size != 0 for size in sizes.values[data.rank:])"
    assert conditions["elements"][1] == ("integers", "list", "least", "one", "copied")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keeps=True", "keeps=False"),
        ("if keeps:", "if True:"),
        ("data.shape[k] if n == 0", "data.shape[k - len(sizes)] if n == 0"),
        ("data.shape[k] if n == 0", "data.shape[0] if n == 0"),
        ("data.shape[k] if n == 0", "1 if n == 0"),
        ("data.copy()", "data.copy(order='K').ravel(order='K')"),
        ('require(sizes.count(-1) < 2, "up-1/one", "")', "sizes = [1 if n == -1 and -1 in sizes[:k] else n for k, n in enumerate(sizes)]"),  # noqa: E501
        ('require(min(sizes, default=0) >= -1, "up-1/least", "")', "sizes = [abs(n) if n < -1 else n for n in sizes]"),  # noqa: E501
        ("data.size // known if", "data.size // known if known != 6 else 1 if"),
    ],
)  # fmt: skip
def test_a_wrong_implementation_fails(old: str, new: str, suite: Path) -> None:
    assert_fails(suite, REFERENCE, old, new)


def test_a_wrong_relation_is_reported_at_its_place(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, SPEC, "copies: keeps", "copies: data")
    assert mistake.endswith(": 'data' does not have the role flag")
