"""The lookup of backends: built-in names, entry points, modules, files, objects."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from opcert.backends import lookup
from opcert.backends.contract import check_backend
from opcert.backends.lookup import ENTRY_POINT_GROUP, load
from opcert.errors import BackendError

FILE = Path(__file__).parents[1] / "wrong_backends.py"


@pytest.mark.parametrize(
    ("name", "loaded"),
    [
        ("reference", "reference"),
        ("opcert.backends.reference:Reference", "reference"),
        (f"{FILE}:Right", "right"),
        (f"{FILE}:with_support", "right"),
    ],
    ids=["built-in", "module", "class", "factory"],
)
def test_a_name_loads_and_what_it_names_is_called(name: str, loaded: str) -> None:
    assert load(name).name == loaded


def test_a_file_imports_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "lookup_neighbour.py").write_text("NAME = 'neighbour'")
    (tmp_path / "backend.py").write_text(
        "from lookup_neighbour import NAME\n"
        "class B:\n    name, version = NAME, '1'\n    def run(self, *_): return []\n"
    )
    assert load(f"{tmp_path / 'backend.py'}:B").name == "neighbour"


def test_a_module_in_the_current_folder_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lookup_here.py").write_text(
        "class B:\n    name, version = 'here', '1'\n    def run(self, *_): return []\n"
    )
    assert load("lookup_here:B").name == "here"


def test_options_reach_the_constructor(tmp_path: Path) -> None:
    (tmp_path / "optioned.py").write_text(
        "class Backend:\n"
        "    name = 'optioned'\n"
        "    def __init__(self, device='CPU'):\n"
        "        self.version = device\n"
        "    def run(self, operator, inputs, attributes):\n"
        "        raise NotImplementedError\n"
        "instance = Backend()\n"
    )
    assert load(f"{tmp_path / 'optioned.py'}:Backend", device="GPU").version == "GPU"
    assert load(f"{tmp_path / 'optioned.py'}:instance").version == "CPU"
    with pytest.raises(BackendError, match="takes no options"):
        load(f"{tmp_path / 'optioned.py'}:instance", device="GPU")


def test_the_message_on_an_unknown_attribute_suggests_backends(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import json\nLIMIT = 3\nclass Mine:\n    def run(self): pass\n")
    with pytest.raises(BackendError, match=r"has no 'Backend'; did you mean '.*mine.py:Mine'\?$"):
        load(f"{file}:Backend")


def test_an_entry_point_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("vendor", "tests.wrong_backends:Right", ENTRY_POINT_GROUP)
    monkeypatch.setattr(lookup, "registered_backends", lambda: {"vendor": point})
    assert load("vendor").name == "right"


def test_an_entry_point_that_cannot_be_imported_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("vendor", "no_such_module:Backend", ENTRY_POINT_GROUP)
    monkeypatch.setattr(lookup, "registered_backends", lambda: {"vendor": point})
    with pytest.raises(BackendError, match="cannot be imported"):
        load("vendor")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"name": "incomplete", "run": print}, "lacks version"),
        ({"name": "broken", "version": "1", "run": None}, r"lacks run\(\)"),
        (
            {"name": "unprintable", "version": "1\n2", "run": print},
            r"version: found '1\\n2'; expected printable text",
        ),
    ],
)
def test_the_message_names_a_part_that_is_missing_or_wrong(
    parts: dict[str, object], message: str
) -> None:
    with pytest.raises(BackendError, match=message):
        check_backend(SimpleNamespace(**parts), "wrong")


def test_the_reference_does_not_support_operators_without_a_spec() -> None:
    with pytest.raises(NotImplementedError):
        load("reference").run("vendor/Unknown-1", {}, {})


@pytest.mark.parametrize("name", ["openvino", "onnxruntime"])
def test_the_message_names_the_extra_of_a_built_in_backend(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"opcert.backends.{name}", raising=False)
    for module in [each for each in sys.modules if each.partition(".")[0] in (name, "onnx")]:
        monkeypatch.delitem(sys.modules, module)
    for package in (name, "onnx"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        BackendError, match=rf"needs the package .*; pip install 'opcert\[{name}\]'"
    ):
        load(name)
