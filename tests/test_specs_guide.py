"""The guide to specs: its tutorial, run step by step, and its tables, compared with the code."""

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.command_line import opcert_program

GUIDE = (Path(__file__).parent.parent / "specs" / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = "my_specs/Chunk-1.yaml"
SECTION = re.compile(r"^(\w+):(?:.*\n(?:[ \n].*\n?)*)", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Return the top-level sections of a YAML text by key."""
    return {match[1]: match[0] for match in SECTION.finditer(text)}


def tutorial() -> Iterator[tuple[str, str, str]]:
    """Yield the blocks of the tutorial: language, file, text."""
    text = GUIDE[GUIDE.index("\n## Tutorial\n") : GUIDE.index("\n## Keys of a spec\n")]
    return ((m[1], m[2] or "", m[3]) for m in FENCE.finditer(text))


def normalized(line: str) -> str:
    """Return a line of output without numbers and digests, and without the widths of columns."""
    return re.sub(r"\b[0-9a-f]{8}\b|\d+| {2,}|[─━]+", "#", line.rstrip())


def assert_shown(shown: list[str], printed: list[str]) -> None:
    """Require the lines of a guide in what is printed; the line … stands for any lines."""
    pattern = "\n".join(".*" if line == "…" else re.escape(normalized(line)) for line in shown)
    text = "\n".join(map(normalized, printed))
    assert re.fullmatch(pattern, text, re.DOTALL), text


def output_of(command: str) -> list[str]:
    """Run opcert as a program, which imports the reference anew, and return what it prints."""
    _, stdout, stderr = opcert_program(*shlex.split(command)[1:])
    return f"{stderr}{stdout}".splitlines()


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "my_specs").mkdir()
    spec: dict[str, str] = {}
    commands = 0
    with contextlib.chdir(tmp_path):
        for language, file, text in tutorial():
            if file == SPEC and spec:
                assert sections(text) == spec, "the whole spec is not what the steps make"
            if file:
                Path(file).write_text(text)
                spec = sections(text) if file == SPEC else spec
            elif language == "yaml":
                spec |= sections(text)
                Path(SPEC).write_text("".join(spec.values()))
            elif text.startswith("$ "):
                prompt, *shown = text.splitlines()
                printed = output_of(prompt.removeprefix("$ "))
                assert_shown(shown, printed)
                commands += 1
    assert commands == 4
