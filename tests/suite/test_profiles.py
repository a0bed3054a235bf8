"""Profiles: more cases, and larger data that is made where it is needed instead of stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from opcert import certify
from opcert.cases.generation import generate_cases
from opcert.specification.files import read_spec, read_specs_in
from tests import small_spec
from tests.command_line import opcert

pytestmark = pytest.mark.slow

SHIPPED = {spec_file.spec.operator: spec_file for spec_file in read_specs_in(None)}


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder with the small valid spec, whose roles know the profiles, and its reference."""
    (tmp_path / "specs").mkdir()
    return small_spec.spec(tmp_path / "specs").parent


def generated(specs: Path | None, profile: str, operator: str, out: Path) -> Path:
    """Write the suite of a profile to `out` by the command line, and return the folder."""
    command = ["generate", "--profile", profile, "--operator", operator, "--out", str(out)]
    command += [] if specs is None else ["--specs", str(specs)]
    result = opcert(*command)
    assert result.exit_code == 0, result.stderr
    return out


def index_of(folder: Path) -> Any:
    (entry,) = json.loads((folder / "manifest.json").read_text())["operators"].values()
    return json.loads((folder / entry["index"]).read_text())


def pack_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.npz"))


def levels(folder: Path, factor: str) -> set[str]:
    index = index_of(folder)
    position = [*index["factors"]].index(factor)
    return {case["levels"][position] for case in index["cases"] if "levels" in case}


def test_the_manifest_has_the_profile(specs: Path, tmp_path: Path) -> None:
    for profile in ("core", "full", "stress"):
        folder = generated(specs, profile, "*", tmp_path / profile)
        assert json.loads((folder / "manifest.json").read_text())["profile"] == profile


def test_a_profile_has_its_own_levels_of_the_factors_that_it_names(
    specs: Path, tmp_path: Path
) -> None:
    core, full, stress = (
        generated(specs, profile, "*", tmp_path / profile) for profile in ("core", "full", "stress")
    )
    assert [levels(each, "type") for each in (core, full, stress)] == [
        {"i8", "f32"},
        {"i8", "f32", "i4", "u4"},
        {"f32"},
    ]
    assert levels(core, "n") == levels(full, "n") == {"three", "one", "zero"}
    assert levels(stress, "n") == {"past_u16", "past_16_mb"}
    assert levels(core, "rank") == levels(full, "rank") == levels(stress, "rank")


def test_full_covers_all_triples_of_levels(specs: Path) -> None:
    spec = read_spec(specs / "take.yaml")
    sizes = {"core": 2, "full": 3}
    for profile, t in sizes.items():
        rows = [
            tuple(case.levels.values()) for case in generate_cases(spec, profile, 0) if case.levels
        ]
        covered = {row[:t] for row in rows}
        expected = {(a, b, c)[:t] for a in _types(profile) for b in _RANKS for c in _EXTENTS}
        assert covered == expected


_RANKS = ("one", "two")
_EXTENTS = ("three", "one", "zero")


def _types(profile: str) -> tuple[str, ...]:
    return ("i8", "f32") if profile == "core" else ("i8", "f32", "i4", "u4")


def test_types_of_half_a_byte_are_certified(specs: Path, tmp_path: Path) -> None:
    folder = generated(specs, "full", "*", tmp_path / "full")
    certificate = certify("reference", folder, specs=specs)
    assert certificate.conformant
    assert certificate.grade == "bit-exact"


def assert_certified_with_large_data(folder: Path, specs: Path | None, case: str = "*") -> None:
    """Check that large data is not stored, and that the reference is certified with it."""
    cases = index_of(folder)["cases"]
    arrays = [
        array for case in cases for array in [*case["inputs"].values(), *case.get("outputs", ())]
    ]
    largest = max(arrays, key=lambda array: max(array["shape"], default=0))
    assert max(largest["shape"]) > 4_000_000
    assert "array" not in largest
    assert pack_size(folder) < 1 << 20
    certificate = certify("reference", folder, specs=specs, case=case)
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


def test_stress_is_of_large_data_that_is_not_stored(specs: Path, tmp_path: Path) -> None:
    assert_certified_with_large_data(generated(specs, "stress", "*", tmp_path / "stress"), specs)


@pytest.mark.parametrize("operator", SHIPPED)
def test_a_shipped_operator_can_be_stressed(operator: str, tmp_path: Path) -> None:
    folder = generated(None, "stress", operator, tmp_path / "stress")
    cases = index_of(folder)["cases"]
    assert sum(case["expects"] == "outputs" for case in cases) > 20
    arrays = [array for case in cases for array in case["inputs"].values()]
    assert max(max(array["shape"], default=0) for array in arrays) >= 1 << 16
    assert pack_size(folder) < 1 << 25


def test_broadcasting_is_certified_under_stress(tmp_path: Path) -> None:
    folder = generated(None, "stress", "openvino/Broadcast-1", tmp_path / "stress")
    # One type of five: the whole takes half a minute.
    assert_certified_with_large_data(folder, None, "*/valid-f16-*")
