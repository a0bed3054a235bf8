"""Profiles: more cases, and larger data that is made where it is needed instead of stored."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opcert import certify
from opcert.cases.generation import generate_cases
from opcert.settings import PROFILES
from opcert.specification.files import read_specs_in
from tests import shipped, small_spec
from tests.command_line import opcert
from tests.few_cases import read_index

SHIPPED = {spec_file.spec.operator: spec_file for spec_file in read_specs_in(None)}
MOVING = [name for name in SHIPPED if name.partition("/")[2] in shipped.MOVING]


def generated(specs: Path | None, profile: str, operator: str, out: Path) -> Path:
    """Write the suite of a profile to `out` by the command line, and return the folder."""
    command = ["generate", "--profile", profile, "--operator", operator, "--out", str(out)]
    command += [] if specs is None else ["--specs", str(specs)]
    opcert(*command, exits=0)
    return out


def index_of(folder: Path) -> Any:
    (entry,) = json.loads((folder / "manifest.json").read_text())["operators"].values()
    return read_index((folder / entry["index"]).read_bytes())


def pack_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.npz"))


@pytest.mark.slow
def test_the_manifest_has_the_profile(tmp_path: Path) -> None:
    specs = small_spec.spec(tmp_path / "specs").parent
    for profile in PROFILES:
        folder = generated(specs, profile, "*", tmp_path / profile)
        assert json.loads((folder / "manifest.json").read_text())["profile"] == profile


def test_the_drawn_calls_of_smoke_are_the_first_of_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, calls in ("smoke", 50), ("core", 70):
        monkeypatch.setitem(PROFILES, name, replace(PROFILES[name], calls=calls))
    smoke, core = (
        [
            case
            for case in generate_cases(shipped.spec("DML_OPERATOR_SPLIT"), profile, 0)
            if "/drawn-" in case.id
        ]
        for profile in ("smoke", "core")
    )
    assert len(smoke) == PROFILES["smoke"].calls < len(core) == PROFILES["core"].calls
    by_id = {case.id: case for case in core}
    assert all(by_id[case.id] == case for case in smoke)
    numbers = sorted(int(case.id[-6:]) for case in core)
    assert sorted(int(case.id[-6:]) for case in smoke) == numbers[: len(smoke)]


@pytest.mark.slow
@pytest.mark.parametrize("operator", MOVING)
def test_a_shipped_operator_can_be_stressed(operator: str, tmp_path: Path) -> None:
    folder = generated(None, "stress", operator, tmp_path / "stress")
    cases = index_of(folder)["cases"]
    assert sum(case["expects"] == "outputs" for case in cases) > 20
    arrays = [array for case in cases for array in case["inputs"].values()]
    assert max(max(array["shape"], default=0) for array in arrays) >= 1 << 16
    assert pack_size(folder) < 1 << 25


@pytest.mark.slow
def test_large_data_is_certified_without_being_stored(tmp_path: Path) -> None:
    folder = generated(None, "stress", "openvino/Broadcast-1", tmp_path / "stress")
    cases = index_of(folder)["cases"]
    arrays = [
        array for case in cases for array in [*case["inputs"].values(), *case.get("outputs", ())]
    ]
    largest = max(arrays, key=lambda array: max(array["shape"], default=0))
    assert max(largest["shape"]) > 1_000_000
    assert "array" not in largest
    assert pack_size(folder) < 1 << 21
    certificate = certify("reference", folder)
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


def test_types_of_half_a_byte_are_certified(tmp_path: Path) -> None:
    specs = small_spec.spec(tmp_path / "specs", ("T: [i8, f32]", "T: [i8, i4, u4]")).parent
    certificate = certify(
        "reference", generated(specs, "smoke", "*", tmp_path / "suite"), specs=specs
    )
    assert certificate.conformant
    assert certificate.grade == "bit-exact"
