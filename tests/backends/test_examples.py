"""The files that people copy: each works as it is, with the others next to it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import opcert
from tests.guides.guides import GUIDES, ROOT

EXAMPLES = ROOT / "generator" / "backends" / "examples"
SPLIT, SLICE = "openvino/VariadicSplit-1", "openvino/Slice-8"
# Few lines are quick to read; the driver in C++ parses JSON by itself.
LONGEST = {"driver.cpp": 550, "driver.mjs": 150}


def certificate(folder: Path, *arguments: str, exit_code: int = 0) -> dict[str, Any]:
    """Certify with `arguments` and return the certificate."""
    result = opcert("certify", *arguments, "--out", str(folder))
    assert result.exit_code == exit_code, result.output
    content: dict[str, Any] = json.loads((folder / "certificate.json").read_text())
    return content


def operators_that_pass(content: dict[str, Any]) -> list[str]:
    return [name for name, counts in content["operators"].items() if counts["pass"]]


@pytest.mark.slow
def test_the_claim_fits_the_numpy_backend(tmp_path: Path) -> None:
    backend, claim = f"{EXAMPLES}/numpy_backend.py:Backend", str(EXAMPLES / "claim.yaml")
    content = certificate(tmp_path, "--backend", backend, "--claim", claim)
    assert content["conformant"]
    assert content["summary"]["pass"] > 700
    assert content["operators"][SLICE]["out-of-claim"] > 500


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_torch_backend_is_bit_exact(device: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch", exc_type=ImportError)
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip(f"torch {torch.__version__} finds no GPU")
    arguments = ["--backend", f"{EXAMPLES}/torch_backend.py:Backend", "--operator", SPLIT]
    content = certificate(tmp_path, *arguments, "--backend-option", f"device={device}")
    assert (content["conformant"], content["grade"]) == (True, "bit-exact")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_javascript_driver_follows_the_protocol_and_is_bit_exact(tmp_path: Path) -> None:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.strip().removeprefix("v").partition(".")[0]) < 20:
        pytest.skip(f"node {version.stdout.strip()} is older than 20")
    driver = f"node '{EXAMPLES / 'driver.mjs'}'"
    checked = opcert("driver-check", driver)
    assert checked.exit_code == 0, checked.output
    content = certificate(tmp_path, "--backend", f"driver:{driver}", "--operator", SPLIT)
    assert (content["conformant"], content["grade"]) == (True, "bit-exact")


@pytest.mark.slow
def test_the_waivers_cover_what_onnxruntime_fails(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra onnxruntime", exc_type=ImportError)
    waivers = ["--waivers", str(EXAMPLES / "waivers.yaml")]
    content = certificate(tmp_path, "--backend", "onnxruntime", "--operator", SLICE, *waivers)
    assert content["conformant"]
    assert content["summary"]["waived"] > 0


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    """The only job of the workflow."""
    content = yaml.safe_load((EXAMPLES / "certify.yml").read_text())
    # YAML 1.1 reads the key `on` as true.
    assert content[True] == "push"
    (job,) = content["jobs"].values()
    return dict(job)


@pytest.fixture(scope="module")
def checkout(workflow: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, in which the commands of the workflow ran."""
    folder = tmp_path_factory.mktemp("workflow") / "checkout"
    shutil.copytree(EXAMPLES, folder)
    commands = [step["run"] for step in workflow["steps"] if "run" in step]
    installing, certifying, comparing = commands
    assert installing == "pip install wheels/opcert-*.whl"
    one_case = certifying.replace("--out results", "--case 'slice-8/example-1' --out former")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in (one_case, certifying, comparing):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_workflow_certifies_and_uploads_the_report(
    workflow: dict[str, Any], checkout: Path
) -> None:
    *_, upload = workflow["steps"]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert upload["if"] == "always()"
    assert (checkout / upload["with"]["path"] / "report.html").is_file()


@pytest.mark.slow
def test_the_numpy_backend_of_the_workflow_is_bit_exact(
    workflow: dict[str, Any], checkout: Path
) -> None:
    folder = checkout / workflow["steps"][-1]["with"]["path"]
    content = json.loads((folder / "certificate.json").read_text())
    assert (content["conformant"], content["grade"]) == (True, "bit-exact")
    assert operators_that_pass(content) == [SLICE, SPLIT]


def test_each_example_is_short_and_printed_in_a_guide_as_it_is() -> None:
    printed = {block.file: block.text for guide in GUIDES for block in guide.blocks if block.file}
    links = {Path(link).name for guide in GUIDES for link in guide.links}
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    names = files - {"README.md"}
    assert names == {
        "certify.yml",
        "claim.yaml",
        "driver.cpp",
        "driver.mjs",
        "numpy_backend.py",
        "torch_backend.py",
        "waivers.yaml",
    }
    for name in names:
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= LONGEST.get(name, 100), name
        assert name in links, name
        assert printed.get(name, text) == text, name
