"""The C++ driver that comes with opcert: it compiles, passes driver-check, and is certified."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from opcert.exploration.explore import explore
from opcert.isolation.messages import encode_message, pack_inputs
from opcert.settings import RunSettings
from tests.command_line import certified, opcert

SOURCE = Path(__file__).parents[2] / "generator" / "backends" / "examples" / "driver.cpp"
OPERATORS = ["openvino/Gather-8", "openvino/VariadicSplit-1"]
pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver, compiled without a warning."""
    target = tmp_path_factory.mktemp("a folder") / "driver"
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = ["c++", "-std=c++17", "-O1", *strict, "-o", str(target), str(SOURCE)]
    subprocess.run(command, check=True)
    return target


@pytest.mark.slow
def test_it_is_certified_bit_exact(driver: Path, tmp_path: Path) -> None:
    certificate = certified(tmp_path, "--backend", f"driver:'{driver}'")
    assert (certificate.conformant, certificate.grade) == (True, "bit-exact")
    backend = certificate.backend
    assert (backend.name, backend.delivery) == ("cpp-driver", "packed")
    passing = [name for name, counts in certificate.operators.items() if counts["pass"]]
    assert passing == OPERATORS == sorted(backend.support or ())
    assert certificate.counts["pass"] > 1300


def test_it_passes_driver_check(driver: Path) -> None:
    opcert("driver-check", f"'{driver}'", exits=0)


@pytest.mark.slow
def test_exploration_finds_no_counterexample(driver: Path) -> None:
    explored = list(
        explore(f"driver:'{driver}'", RunSettings(operator="*/[VG]*-[18]"), minutes=0.05)
    )
    assert [each.operator for each in explored] == OPERATORS
    assert [each.counterexample for each in explored] == [None, None]
    assert all(each.tried > each.declined for each in explored)


def test_the_conversation_in_the_guide_takes_place(driver: Path) -> None:
    guide = SOURCE.with_name("README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^([<>]) (.+)$", guide, re.MULTILINE)
    assert len(lines) == 8

    def written(side: str) -> bytes:
        spoken = [text for by, text in lines if by == side]
        return b"".join(
            f"{text}\n".encode() if text.startswith("{") else bytes.fromhex(text) for text in spoken
        )

    done = subprocess.run([driver], input=written(">"), capture_output=True, check=True)
    assert done.stdout == written("<")
    asked = [json.loads(text) for by, text in lines if by == ">" and text.startswith("{")]
    inputs = {
        "data": np.array([1, 2, 3], np.int16),
        "axis": np.array(0),
        "split_lengths": np.array([1, -1], np.int32),
    }
    described, contents = pack_inputs(inputs)
    assert json.loads(encode_message({"inputs": described}))["inputs"] == asked[1]["inputs"]
    assert b"".join(contents) in written(">")


def test_an_unknown_option_is_refused(driver: Path) -> None:
    arguments = ["--backend", f"driver:'{driver}'", "--backend-option", 'a "b"=c']
    done = opcert("certify", *arguments, exits=2)
    assert "refuses to run: there is no option 'a \"b\"'" in done.stderr


@pytest.mark.parametrize(
    "line",
    ["", "{", '{"protocol"', "[1,2", '"\\u12"', "nul", "1e", "-", "[" * 1000, '{"a":1}x', "\0"],
)
def test_malformed_json_ends_it_with_a_message(driver: Path, line: str) -> None:
    done = subprocess.run(
        [driver], input=f"{line}\n", capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(("JSON: ", "a value of the message", "the message has no"))
