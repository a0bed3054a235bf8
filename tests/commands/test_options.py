"""What the commands share: printed lines have no control characters, an error is one line."""

import json
from pathlib import Path

import pytest

from tests.command_line import opcert
from tests.small_spec import spec
from tests.small_suite import GLOB, INDEX, edit_index, read_json, write

HOSTILE = "\x1b[2J\x9b31mx\r\nopcert: CONFORMANT\u2028\u202e"
FEW = "--case", "*example-[12]"
BACKEND = f"""
class Backend:
    name, version = "b", "1"
    def run(self, operator, inputs, attributes):
        raise ValueError({HOSTILE!r})
def unmade():
    raise RuntimeError({HOSTILE!r})
class Misnamed(Backend):
    name = {HOSTILE!r}
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a suite with a hostile text, next to a backend and a spec with some."""

    def spoil(index: dict[str, list[dict[str, str]]]) -> None:
        index["cases"][0]["example"] = HOSTILE

    monkeypatch.chdir(tmp_path)
    folder = write(tmp_path / "suite")
    edit_index(folder, spoil)
    (tmp_path / "b.py").write_text(BACKEND, encoding="utf-8")
    (tmp_path / "a.yaml").write_text(f"{json.dumps(HOSTILE)}: 1\n")
    return folder


def hostile_lines(text: str) -> list[str]:
    """The lines with control characters, and those that forge a conclusion."""
    lines = text.split("\n")
    forged = [line for line in lines if line.startswith("opcert: CONFORMANT")]
    return [line for line in lines if not line.isprintable()] + forged


CERTIFY = ("certify", "--suite", "suite")
# Commands that print hostile text, with their exit codes; one line on stderr reports a mistake.
CALLS: list[tuple[tuple[str, ...], int]] = [
    ((*CERTIFY, *FEW, "--backend", "b.py:Backend"), 1),
    ((*CERTIFY, "--case", "*example*", "--out", HOSTILE), 0),
    (("generate", "--operator", GLOB, "--out", f"{HOSTILE}/suite"), 0),
    *(((*CERTIFY, "--backend", f"b.py:{name}"), 2) for name in ("unmade", "Misnamed")),
    *(((*CERTIFY, option, HOSTILE), 2) for option in ("--case", "--operator")),
    *(
        (("certify", option, HOSTILE, "--out", "out"), 2)
        for option in ("--suite", "--claim", "--waivers", "--specs")
    ),
    (("explain", HOSTILE), 2),
    (("verify", HOSTILE), 2),
    (("check", "a.yaml"), 2),
]


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize(("arguments", "code"), CALLS)
def test_hostile_text_is_printed_in_one_line(arguments: tuple[str, ...], code: int) -> None:
    result = opcert(*arguments, exits=code)
    assert hostile_lines(result.stdout) == hostile_lines(result.stderr) == []
    assert "\\x1b[2J\\x9b31mx" in result.output
    # A spec has a line for each mistake.
    assert code != 2 or arguments[0] == "check" or result.stderr.count("\n") == 1


def test_text_of_a_suite_or_a_certificate_cannot_forge_lines(suite: Path) -> None:
    opcert(*CERTIFY, *FEW, "--backend", "b.py:Backend", "--out", "out")
    case = read_json(suite, INDEX)["cases"][0]["id"]
    for arguments in (("report", "out"), ("explain", case, "--suite", suite)):
        result = opcert(*arguments, exits=0)
        assert hostile_lines(result.stdout) == hostile_lines(result.stderr) == []
        assert "\\x1b[2J\\x9b31mx" in result.output


def test_spaces_in_a_path_are_kept(tmp_path: Path) -> None:
    assert "two  spaces, ä" in opcert("report", tmp_path / "two  spaces, ä").stderr


def test_markup_is_printed_as_it_is(suite: Path, tmp_path: Path) -> None:
    text = BACKEND.replace(repr(HOSTILE), "'[bold]:warning:'")
    (tmp_path / "b.py").write_text(text, encoding="utf-8")
    result = opcert("certify", *FEW, "--suite", suite, "--backend", f"{tmp_path / 'b.py'}:Backend")
    assert "[bold]:warning:" in result.stdout


def test_causes_without_the_spec_of_the_suite_are_a_warning(tmp_path: Path) -> None:
    path, suite, backend = spec(tmp_path / "specs"), tmp_path / "suite", tmp_path / "mine.py"
    backend.write_text("class Backend:\n    name, version, run = 'mine', '1', lambda *_: []\n")
    specs = ("--specs", path.parent)
    opcert("generate", *specs, "--profile", "smoke", "--out", suite, exits=0)
    run = ("certify", "-q", "--suite", suite, "-b", f"{backend}:Backend", *specs)
    assert "other specs" not in opcert(*run, exits=1).stderr
    path.write_text(f"{path.read_text()}# Another spec.\n")
    warning = "the suite comes from other specs of example/Take-1 than opcert has"
    assert warning in opcert(*run, exits=1).stderr
