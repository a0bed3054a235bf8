"""An exception of a backend comes with the lines of the backend's own source."""

from pathlib import Path

import numpy as np
import pytest

from opcert import certify
from opcert.backends.lookup import load
from opcert.errors import BackendError
from opcert.run.outcome import call_backend

CASE = "dml-split/example-1"

MODULE = """
import numpy as np

class Backend:
    name, version = "b", "1"
    def run(self, operator, inputs, attributes):
        return self.split(inputs["InputTensor"])
    def split(self, data):
        return np.split(data, 1000003, axis=0)

class Unmade(Backend):
    def __init__(self):
        {}["device"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "b.py").write_text(MODULE)
    return tmp_path / "b.py"


@pytest.mark.parametrize("isolated", [False, True])
def test_a_verdict_has_the_innermost_lines_of_the_backend(file: Path, isolated: bool) -> None:
    certificate = certify(f"{file}:Backend", isolated=isolated, case=CASE)
    lines = [line for line in certificate.verdicts[0].detail.splitlines() if " at " in line]
    assert lines == [
        '    at b.py:7, in run: return self.split(inputs["InputTensor"])',
        "    at b.py:9, in split: return np.split(data, 1000003, axis=0)",
    ]


def test_a_package_is_named_with_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_runtime" / "ops").mkdir(parents=True)
    (tmp_path / "acme_runtime" / "__init__.py").write_text(MODULE)
    (tmp_path / "acme_runtime" / "ops" / "__init__.py").touch()
    (tmp_path / "acme_runtime" / "ops" / "split.py").write_text("def split(data):\n    1 // 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    backend = load("acme_runtime:Backend")
    from acme_runtime.ops.split import split  # type: ignore[import-not-found]

    backend.split = split  # type: ignore[attr-defined]
    lines = call_backend(backend, "x", {"InputTensor": np.zeros(1)}, {}).lines
    assert [line.partition(",")[0] for line in lines] == [
        "at acme_runtime/__init__.py:7",
        "at acme_runtime/ops/split.py:2",
    ]


def test_only_the_last_three_lines_are_kept_and_cut(tmp_path: Path) -> None:
    deep = "class Backend:\n    name = version = 'd'\n    def run(self, *_, depth=9):\n"
    deep += f"        return self.run(depth=depth - 1) if depth else 1 // 0  # {'x' * 200}\n"
    (tmp_path / "deep.py").write_text(deep)
    lines = call_backend(load(f"{tmp_path / 'deep.py'}:Backend"), "x", {}, {}).lines
    assert [len(line) for line in lines] == [160] * 3


def test_a_backend_that_comes_with_opcert_has_no_lines() -> None:
    outcome = call_backend(load("array-api"), "openvino/Concat-1", {}, {})
    assert (outcome.observed, outcome.lines) == ("rejected", [])


def test_a_backend_that_cannot_be_made_names_the_line(file: Path) -> None:
    with pytest.raises(BackendError, match=r"KeyError: 'device' \(at b.py:13, in __init__: {}"):
        load(f"{file}:Unmade")
