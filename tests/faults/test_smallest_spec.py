"""The smallest spec that `check` accepts gives a strong suite."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from opcert.settings import PROFILES
from opcert.suite.generation import generate
from opcert.suite.suite import Suite
from tests.command_line import opcert
from tests.faults import finding
from tests.faults.catalogue import FAULTS
from tests.faults.fault import SPLIT
from tests.short_suite import CORE_PROFILE

SPEC = Path(__file__).parents[2] / "specs" / "openvino" / "VariadicSplit-1.yaml"


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The signature, the rules that follow from it, one behaviour and one example."""
    spec = yaml.safe_load(SPEC.read_text())
    keys = ("id", "from", "clause")
    follow = [{key: rule[key] for key in keys} for rule in spec["rules"] if "from" in rule]
    text = "The parts follow each other."
    spec["rules"] = [*follow, {"id": "consecutive-parts", "clause": "Outputs", "text": text}]
    spec["examples"] = spec["examples"][:1]
    for output in spec["outputs"]:
        output.pop("element")
        output.pop("where")
    for key in ("ambiguities", "errata", "laws"):
        spec.pop(key)
    folder = tmp_path_factory.mktemp("specs")
    (folder / SPEC.name).write_text(yaml.safe_dump(spec, sort_keys=False))
    return folder


@pytest.mark.slow
def test_check_accepts_it(specs: Path) -> None:
    result = opcert("check", "--no-strength", "--specs", str(specs))
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_its_suite_finds_the_faults_of_the_catalogue(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROFILES, "core", replace(CORE_PROFILE, calls=2000))
    generate(tmp_path / "suite", specs)
    suite = Suite(tmp_path / "suite", specs)
    monkeypatch.setattr(finding, "suites", lambda: [suite])
    faults = {name: fault for name, fault in FAULTS.items() if fault.operator == SPLIT}
    found = [name for name, fault in faults.items() if finding.first_failure(fault) is not None]
    assert len(faults) > 150
    assert found == [*faults]
