"""A made-up operator as a newcomer writes it, through the whole command line.

Select chooses between the elements of two tensors by a mask, and its second output is of a type of
its own. No engine code is written for it. Its attributes have the types that
few operators have: a fraction, lists of texts and of fractions, and a record.
"""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.at_length import at_length
from tests.command_line import opcert, python
from tests.roles.made_up import assert_fails, write_spec

pytestmark = pytest.mark.usefixtures("few_calls")

SPEC = """\
operator: made/Select-1
slug: select-1
version: 1
document: {title: Select, version: "1", source: "made/documents@1:select.md"}
reference: select_1.py:select
roles: {chosen: 'tests.chosen:Chosen', words: 'tests.chosen:Words', fractions: 'tests.chosen:Fractions'}
types: {T: [f32, i8], T_MASK: [boolean]}
inputs:
  - {name: mask, role: data, type: T_MASK, shape: data.shape, text: Which elements to take.}
  - {name: data, role: data, type: T, rank: [0, 3], text: The elements where mask is true.}
  - {name: other, role: data, type: T, type_of: data, shape: data.shape, text: The other elements.}
attributes:
  - {name: share, role: chosen, values: {half: 0.5, all: 1.0}, type: float, text: Half of a share of 0.5 is counted.}
  - {name: names, role: words, values: {straight: [data, other], crossed: [other, data]}, type: list, one_of: [data, other], text: The order.}
  - {name: weights, role: fractions, values: {two: [0.5, 2.0], fraction: [0.5, 7.5]}, type: list, text: Weights of both.}
  - {name: bounds, role: chosen, values: {some: {Least: 3}, none: {Least: 0}}, type: record, text: The least count.}
outputs:
  - name: output
    type: T
    shape: data.shape
    element: "data[at] if mask[at] == (names[0] == 'data') else other[at]"
    text: The selected elements.
  - name: counts
    type: i32
    shape: "[2]"
    element: max([bounds['Least'], int(data.size * share)][at[0]], int(weights[1]))
    text: The least count and the share.
rules:
  - {id: required-arguments, from: required, clause: Inputs}
  - {id: data-type, kind: requirement, clause: Types, text: Data is f32 or i8., holds: data.type in T,
     violations: {as-f64: {data: "with_type(data, 'f64')", other: "with_type(other, 'f64')"}}}
  - {id: mask-type, kind: requirement, clause: Types, text: Mask is boolean., holds: mask.type in T_MASK}
  - {id: mask-shape, from: mask.shape, clause: "Inputs, mask"}
  - {id: other-type, from: other.type, clause: "Inputs, other"}
  - {id: other-shape, from: other.shape, clause: "Inputs, other"}
  - {id: share-range, kind: requirement, clause: Attributes, text: From 0 to 1., holds: 0 <= share <= 1}
  - {id: two-names, kind: requirement, clause: Attributes, text: Both are named., holds: "sorted(names) == ['data', 'other']"}
  - {id: two-weights, kind: requirement, clause: Attributes, text: There are two., holds: len(weights) == 2}
  - {id: selected, clause: Description, text: Mask selects elements.}
"""  # noqa: E501
REFERENCE = """\
import numpy as np

from opcert.reference import require


def select(mask=None, data=None, other=None, share=None, names=None, weights=None, bounds=None):
    arguments = (mask, data, other, share, names, weights, bounds)
    require(all(a is not None for a in arguments), "select-1/required-arguments", "omitted")
    require(data.dtype.name in ("float32", "int8"), "select-1/data-type", data.dtype.name)
    require(mask.dtype == np.bool_, "select-1/mask-type", mask.dtype.name)
    require(mask.shape == data.shape, "select-1/mask-shape", str(mask.shape))
    require(other.dtype == data.dtype, "select-1/other-type", other.dtype.name)
    require(other.shape == data.shape, "select-1/other-shape", str(other.shape))
    require(0 <= share <= 1, "select-1/share-range", str(share))
    require(sorted(names) == ["data", "other"], "select-1/two-names", str(names))
    require(len(weights) == 2, "select-1/two-weights", str(weights))
    selected = np.where(mask == (names[0] == "data"), data, other)
    counts = [max(n, int(weights[1])) for n in (bounds["Least"], int(data.size * share))]
    return [selected, np.array(counts, np.int32)]
"""
BACKEND = """\
from select_1 import select


class Right:
    name, version = "right", "1"

    def run(self, operator, inputs, attributes):
        return select(**inputs, **attributes)


class Crossed(Right):
    def run(self, operator, inputs, attributes):
        return select(**inputs, **{**attributes, "names": ["data", "other"]})
"""
# Faults of the reference.
WRONG = [
    ('(names[0] == "data")', "True"),
    ("int(weights[1])", "round(weights[1])"),
    ('bounds["Least"]', "3"),
    ("data.size * share", "data.size * 0.5"),
    ("np.int32", "np.int64"),
    ('require(mask.dtype == np.bool_, "select-1/mask-type", mask.dtype.name)', ""),
    ('require(len(weights) == 2, "select-1/two-weights", str(weights))', ""),
    ('require(0 <= share <= 1, "select-1/share-range", str(share))', ""),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the spec, and its suite in `suite`."""
    folder = tmp_path_factory.mktemp("newcomer")
    write_spec(folder, "select_1", SPEC, REFERENCE)
    (folder / "backend.py").write_text(BACKEND)
    run("generate", "--specs", folder, "--out", folder / "suite")
    return folder


def own(folder: Path) -> tuple[str | Path, ...]:
    """Return the options that name the spec and the suite of a folder."""
    return "--suite", folder / "suite", "--specs", folder


def run(*arguments: str | Path, exit_code: int = 0) -> str:
    """Run a command; return its output on one line."""
    result = opcert(*arguments)
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.split())


def certify(folder: Path, backend: str, out: str, exit_code: int = 0) -> str:
    """Certify a backend of the folder."""
    named = "--backend", f"{folder / 'backend.py'}:{backend}", "--out", folder / out
    return run("certify", *named, *own(folder), exit_code=exit_code)


@pytest.mark.slow
def test_check_finds_no_mistake(folder: Path) -> None:
    text = run("check", "--no-strength", folder / "select_1.yaml")
    assert "10 rules, each exercised" in text


def test_a_right_backend_is_certified_and_verified(folder: Path) -> None:
    assert "bit-exact" in certify(folder, "Right", "right")
    run("verify", folder / "right" / "certificate.json", *own(folder))


def test_a_wrong_backend_fails_and_a_case_is_explained(folder: Path) -> None:
    assert "not conformant" in certify(folder, "Crossed", "wrong", exit_code=1).lower()
    index = gzip.decompress((folder / "suite" / "made" / "select-1.jsonl.gz").read_bytes()).decode()
    case = next(word for word in index.split('"') if word.startswith("select-1/drawn-"))
    text = run("explain", case, *own(folder))
    assert "names" in text
    assert "weights" in text
    assert "from made/documents@1:select.md" in text


def test_the_program_of_a_case_makes_the_call_with_the_reference_of_the_specs(folder: Path) -> None:
    index = gzip.decompress((folder / "suite" / "made" / "select-1.jsonl.gz").read_bytes()).decode()
    case = next(word for word in index.split('"') if word.startswith("select-1/drawn-"))
    program = folder / "program.py"
    options = "--program", "--backend", "reference", *own(folder)
    program.write_text(opcert("explain", case, *options, exits=0).stdout)
    root = str(Path(__file__).parents[2])
    done = python(program, env={**os.environ, "PYTHONPATH": root})
    assert done.returncode == 0, done.stderr


def test_the_pages_show_types_and_source(folder: Path) -> None:
    run("docs", *own(folder), "--out", folder / "docs")
    pages = "".join(path.read_text() for path in (folder / "docs").rglob("*.md"))
    assert "made/documents@1:select.md" in pages
    assert "`i32`" in pages
    assert "`record`" in pages


@pytest.mark.parametrize(("old", "new"), at_length(WRONG, 4))
def test_a_wrong_implementation_fails(old: str, new: str, folder: Path) -> None:
    assert_fails(folder / "suite", REFERENCE, old, new, "select")


@pytest.mark.slow
def test_the_pytest_files_give_the_same_verdict(folder: Path) -> None:
    path = f"{folder / 'backend.py'}:Crossed"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["--backend", path, str(folder / "suite")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
