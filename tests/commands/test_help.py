"""The help of each command, and the options that several commands share."""

import os
import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperCommand
from typer.main import get_command

from opcert.cli import COMMANDS, Opcert, app
from tests.command_line import opcert, python

GROUP = get_command(app)
assert isinstance(GROUP, Opcert)
LOADED: dict[str, TyperCommand] = {
    name: GROUP.load(name) for commands in COMMANDS.values() for name in commands
}
NAMES = [*LOADED]
OPTIONS = {name: {o for p in command.params for o in p.opts} for name, command in LOADED.items()}
EXAMPLES = [line for command in LOADED.values() for line in (command.epilog or "").splitlines()]


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_is_in_the_help_once_below_its_group(option: str) -> None:
    lines = opcert(option).stdout.splitlines()
    assert [name for line in lines for name in NAMES if line.startswith(f"  {name} ")] == NAMES
    assert {f"{heading}:" for heading in COMMANDS} <= {*lines}
    assert "..." not in "".join(line for line in lines if "COMMAND" not in line)


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_has_examples_and_words_for_people(name: str) -> None:
    result = opcert(name, "-h", exits=0)
    assert "\nExamples:\n  opcert " in result.stdout
    # Types of Python, such as <path>, list[Path] or TEXT.
    assert not re.search(r"<\w+>|list\[|\bTEXT\b|\bPATH\b \(|\bFLOAT\b|INTEGER", result.stdout)
    lines = result.stdout.partition("Examples:")[0].splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_valid_command_line(example: str) -> None:
    _, name, *arguments = shlex.split(example.partition(" > ")[0].replace("results/*", "a b"))
    LOADED[name].make_context(name, arguments)


def test_commands_that_take_the_same_thing_name_the_option_alike() -> None:
    for short, long in (("-b", "--backend"), ("-o", "--out"), ("-q", "--quiet")):
        assert all((short in each) == (long in each) for each in OPTIONS.values())
    # Whatever runs a backend limits it.
    for name in ("certify", "explore", "driver-check"):
        assert {"--timeout", "--memory", "--backend-option"} <= OPTIONS[name]


def test_a_quiet_run_prints_the_conclusion_only(suite: Path, tmp_path: Path) -> None:
    result = opcert("certify", "-q", "--suite", suite, "-o", tmp_path / "out")
    assert result.stderr == ""
    assert result.stdout.startswith("CONFORMANT")
    assert result.stdout.count("\n") == 1
    assert opcert("report", "-q", tmp_path / "out").stdout == result.stdout


def test_a_change_of_the_backend_is_a_warning(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\n"
        "class Backend:\n    name, version = 'mine', '1'\n    def run(self, *_):\n"
        "        Path(__file__).write_text('')\n        raise NotImplementedError\n"
    )
    backend = f"{tmp_path / 'mine.py'}:Backend"
    result = opcert("certify", "-q", "--in-process", "--suite", suite, "-b", backend)
    assert "opcert: warning: mine.py changed during the run" in result.stderr


def test_a_program_is_all_that_explain_prints_if_nothing_else_is_requested(tmp_path: Path) -> None:
    result = opcert("explain", "gather-8/example-1", "--program", "-b", "reference", exits=0)
    (tmp_path / "call.py").write_text(result.stdout)
    done = python(tmp_path / "call.py")
    assert done.returncode == 0, done.stderr


def test_an_array_without_elements_is_described_by_its_shape() -> None:
    result = opcert("explain", "gather-8/drawn-f32-*", "--program")
    assert "cases match" in result.stderr
    cases = re.findall(r"variadic-split-1/[\w.-]+", opcert("explain", "variadic-split-1/*").stderr)
    assert cases
    assert not any("[[]" in opcert("explain", case).stdout for case in cases)


@pytest.mark.parametrize(
    ("words", "completion"), [("opcert cert", "certify"), ("opcert certify --oper", "--operator")]
)
def test_a_shell_completes_commands_and_options(words: str, completion: str) -> None:
    count = len(words.split()) - 1
    asked = {"COMP_WORDS": words, "COMP_CWORD": f"{count}", "_OPCERT_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv[0] = 'opcert'; from opcert.cli import main; main()"
    done = python("-c", program, env={**os.environ, **asked})
    assert done.stdout.split() == [completion], done.stderr
