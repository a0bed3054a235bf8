"""The role `partition`: lengths that make up an axis, with a remainder and without."""

from pathlib import Path

import pytest

from opcert.cases.factors import levels_by_factor
from tests.roles.made_up import (
    assert_certified,
    assert_fails,
    assert_observed,
    holds,
    mistakes,
    read,
)

SPEC = """\
types: {T: [f32, u8], T_LENGTH: [i32, u8]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 3], text: Data.}
  - {name: sizes, role: partition, of: data, along: axis, type: T_LENGTH, text: Lengths.}
attributes:
  - {name: axis, role: axis, of: data, negative: false, type: int, text: Axis.}
outputs:
  - {name: part, type: T, count: sizes.size, text: Part i.,
     shape: "replace(data.shape, axis, sizes.values[i])"}
rules:
  - {id: in-range, from: axis.range, clause: A}
  - {id: kind, from: sizes.type, clause: S}
  - {id: list, from: sizes.rank, clause: S}
  - {id: least, from: sizes.least, clause: S}
  - {id: sum, from: sizes.sum, clause: S}
  - {id: consecutive, clause: D, text: Part follows part.}
"""
REFERENCE = """\
import numpy as np

from opcert.reference import require


def up(data, sizes, axis):
    require(sizes.dtype.name in ("int32", "uint8"), "up-1/kind", f"{sizes.dtype}")
    require(sizes.ndim == 1, "up-1/list", f"{sizes.ndim}")
    require(0 <= axis < data.ndim, "up-1/in-range", f"{axis}")
    lengths = sizes.tolist()
    require(min(lengths, default=0) >= 0, "up-1/least", f"{lengths}")
    require(sum(lengths) == data.shape[axis], "up-1/sum", f"{lengths}")
    ends = np.cumsum(lengths)[:-1] if lengths else []
    return [part.copy() for part in np.split(data, ends, axis)] if lengths else []
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of the spec, which certifies the reference."""
    return assert_certified(tmp_path_factory.mktemp("suite"), SPEC, REFERENCE)


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(profile: str, tmp_path: Path) -> None:
    for call in assert_observed(read(tmp_path, SPEC), profile):
        lengths = call.inputs["sizes"].values or ()
        assert sum(lengths) == call.inputs["data"].shape[call.attributes["axis"]]


def test_derived_requirements(tmp_path: Path) -> None:
    conditions = holds(read(tmp_path, SPEC))
    assert conditions["least"] == ("all(length >= 0 for length in sizes.values)", ("kind", "list"))
    assert conditions["sum"] == ("sum(sizes.values) == data.shape[axis]", ("in-range", "least"))


def test_a_remainder_adds_levels_and_requirements(tmp_path: Path) -> None:
    rules = """\
  - {id: one, from: sizes.one-remainder, clause: S}
  - {id: rest, from: sizes.remainder, clause: S}
"""
    # A prerequisite may follow the rule that needs it.
    spec = read(tmp_path, SPEC.replace("along: axis,", "along: axis, remainder: true,") + rules)
    order = [*spec.requirements]
    assert order.index("one") < order.index("sum")
    special = {level.name for level in levels_by_factor(spec, "core")["sizes_special"]}
    assert special == {"none", "zero", "rest", "rest_empty", "rest_long"}
    assert spec.requirements["rest"].when == "-1 in sizes.values"
    calls = assert_observed(spec)
    assert any(-1 in (call.inputs["sizes"].values or ()) for call in calls)


def test_a_requirement_that_no_rule_states_is_a_mistake(tmp_path: Path) -> None:
    found = mistakes(tmp_path, SPEC, "  - {id: sum, from: sizes.sum, clause: S}\n", "")
    assert len(found) == 1
    assert "missing rule for 'sizes.sum'" in found[0]
    assert "expected one with 'from: sizes.sum' and its clause" in found[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sum(lengths) == data.shape[axis]", "sum(lengths) <= data.shape[axis]"),
        ("sum(lengths) == data.shape[axis]", "(sum(lengths) - data.shape[axis]) % 256 == 0"),
        ("min(lengths, default=0) >= 0", "True"),
        ("np.cumsum(lengths)[:-1]", "np.cumsum(lengths[::-1])[:-1]"),
        ("np.cumsum(lengths)[:-1]", "np.cumsum(np.array(lengths, 'i1'), dtype='i1')[:-1]"),
        ("part.copy() for part", "part.copy() if data.ndim < 3 else part * 0 for part"),
    ],
)
def test_its_suite_fails_wrong_parts(suite: Path, old: str, new: str) -> None:
    assert_fails(suite, REFERENCE, old, new)
