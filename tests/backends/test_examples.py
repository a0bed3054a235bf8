"""The files that people copy: each works as it is, with the others next to it."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from opcert import read_certificate
from tests.backends.runtimes import need
from tests.command_line import certified, opcert
from tests.guides.guides import GUIDES, ROOT, Command
from tests.guides.test_commands import run

EXAMPLES = ROOT / "generator" / "backends" / "examples"
SPLIT, SLICE = "openvino/VariadicSplit-1", "openvino/Slice-8"
# Few lines are quick to read; the driver in C++ parses JSON by itself.
LONGEST = {"driver.cpp": 550, "driver.mjs": 150}


@pytest.mark.slow
def test_the_claim_fits_the_numpy_backend(tmp_path: Path) -> None:
    backend, claim = f"{EXAMPLES}/numpy_backend.py:Backend", EXAMPLES / "claim.yaml"
    certificate = certified(tmp_path, "--backend", backend, "--claim", claim)
    assert certificate.conformant
    assert certificate.counts["pass"] > 700
    assert certificate.operators[SLICE]["out-of-claim"] > 500


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_torch_backend_is_bit_exact(device: str, tmp_path: Path) -> None:
    need("torch", gpu=device == "cuda")
    arguments = ["--backend", f"{EXAMPLES}/torch_backend.py:Backend", "--operator", SPLIT]
    certificate = certified(tmp_path, *arguments, "--backend-option", f"device={device}")
    assert (certificate.conformant, certificate.grade) == (True, "bit-exact")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_javascript_driver_follows_the_protocol_and_is_bit_exact(tmp_path: Path) -> None:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.strip().removeprefix("v").partition(".")[0]) < 20:
        pytest.skip(f"node {version.stdout.strip()} is older than 20")
    driver = f"node '{EXAMPLES / 'driver.mjs'}'"
    opcert("driver-check", driver, exits=0)
    certificate = certified(tmp_path, "--backend", f"driver:{driver}", "--operator", SPLIT)
    assert (certificate.conformant, certificate.grade) == (True, "bit-exact")


@pytest.mark.slow
def test_the_waivers_cover_what_onnxruntime_fails(tmp_path: Path) -> None:
    need("onnxruntime")
    waivers = "--waivers", EXAMPLES / "waivers.yaml"
    certificate = certified(tmp_path, "--backend", "onnxruntime", "--operator", SLICE, *waivers)
    assert certificate.conformant
    assert certificate.counts["waived"] > 0


@pytest.mark.slow
def test_the_workflow_certifies_compares_and_uploads(tmp_path: Path) -> None:
    content = yaml.safe_load((EXAMPLES / "certify.yml").read_text())
    # YAML 1.1 reads the key `on` as true.
    assert content[True] == "push"
    (job,) = content["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    installing, certifying, comparing = commands
    assert installing == "pip install wheels/opcert-*.whl"
    folder = tmp_path / "checkout"
    shutil.copytree(EXAMPLES, folder)
    one_case = certifying.replace("--out results", "--case 'slice-8/example-1' --out former")
    for command in (one_case, certifying, comparing):
        run(Command(command), folder)
    *_, upload = job["steps"]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert upload["if"] == "always()"
    uploaded = folder / upload["with"]["path"]
    assert (uploaded / "report.html").is_file()
    certificate = read_certificate(uploaded / "certificate.json")
    assert (certificate.conformant, certificate.grade) == (True, "bit-exact")
    passing = [name for name, counts in certificate.operators.items() if counts["pass"]]
    assert passing == [SLICE, SPLIT]


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
