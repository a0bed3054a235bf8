"""The README: every file it shows and every command it gives, run as they stand.

The quick commands run always, those of opcert within this process; the others are read by opcert
as they stand, and run where slow tests do.
"""

import builtins
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.core import TyperGroup
from typer.main import get_command

from opcert.arrays import LAW_FUNCTIONS, TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.cli import app
from opcert.roles import DRAW_FUNCTIONS, ROLES, Role
from opcert.scope import checked_support
from opcert.specification import EXPRESSION_FUNCTIONS
from tests.command_line import opcert
from tests.faults.finding import core_suite

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the file it is shown as, its text."""

    language: str
    file: str
    text: str


BLOCKS = [Block(*match.groups(default="")) for match in FENCE.finditer(README)]
COMMANDS = [
    command for b in BLOCKS if b.language == "sh" for command in b.text.splitlines() if command
]
SET_UP, REST = COMMANDS[:2], COMMANDS[2:]
CPP = [command for command in REST if command.startswith(("c++ ", "./read_pack "))]
SIGNED = [command for command in REST if "key.pem" in command or "public.pem" in command]
# Each takes seconds, and nothing else needs what it writes.
LONG = re.compile(
    r"opcert (claim|docs|explore) |openvino/Slice-8|python (-m pytest|certify_it)|--rerun|\.pem"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds every file that the README shows."""
    home = tmp_path_factory.mktemp("readme")
    write_files(home)
    return home


def write_files(folder: Path) -> None:
    """Write every file that the README shows."""
    for block in BLOCKS:
        if block.file:
            path = folder / block.file
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def test_the_first_two_blocks_are_one_line_each() -> None:
    assert [block.language for block in BLOCKS[:2]] == ["sh", "sh"]
    assert all(block.text.count("\n") == 1 for block in BLOCKS[:2])
    assert SET_UP[0].endswith("opcert certify")


def test_ci_runs_the_first_two_lines_as_they_stand() -> None:
    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert lines == SET_UP
    assert '"$(line 1)"' in (ROOT / ".ci" / "run").read_text()
    assert '"$(line 2)"' in (ROOT / ".ci" / "run").read_text()


def run(command: str, folder: Path) -> str:
    """Run a command of the README in `folder`, and return what it prints."""
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_here(command: str, folder: Path) -> str:
    """Do as `run`, without a process for a command of opcert."""
    program, *arguments = shlex.split(command)
    if program != "opcert" or ">" in arguments:
        return run(command, folder)
    with contextlib.chdir(folder):
        done = opcert(*arguments)
    assert done.exit_code == 0, f"{command}\n{done.output}"
    return done.stdout


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    """What the quick commands print but those of the C++ reader, in the README's order."""
    chosen = [each for each in REST if each not in CPP and not LONG.search(each)]
    assert len(chosen) > len(REST) / 2
    return "".join(run_here(command, folder) for command in chosen)


def assert_right(printed: str, folder: Path) -> None:
    assert re.search(r"^CONFORMANT for 1 of 5 operators, bit-exact: my-slices 1.0", printed, re.M)
    assert "vendor/Reverse-1" in printed
    assert (folder / "results" / "certificate.json").is_file()
    assert "sound: CONFORMANT for 1 of 5 operators, bit-exact: my-slices 1.0" in printed


def test_the_quick_commands_succeed_in_the_readmes_order(printed: str, folder: Path) -> None:
    assert_right(printed, folder)


@pytest.mark.slow
def test_every_command_but_those_of_cpp_and_keys_succeeds_in_the_readmes_order(
    tmp_path: Path,
) -> None:
    write_files(tmp_path)
    apart = (*CPP, *SIGNED)
    printed = "".join(run(command, tmp_path) for command in REST if command not in apart)
    assert_right(printed, tmp_path)


@pytest.mark.parametrize("command", [each for each in REST if each.startswith("opcert ")])
def test_every_command_of_opcert_has_the_options_that_it_knows(command: str) -> None:
    name, *arguments = shlex.split(command.partition(" > ")[0])[1:]
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    group.commands[name].make_context(name, arguments)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_the_commands_of_keys_sign_and_verify(folder: Path) -> None:
    said = "".join(run(command, folder) for command in SIGNED).splitlines()[-1]
    assert said.startswith("sound: CONFORMANT for 1 of 5 operators, bit-exact: my-slices 1.0")
    assert "not checked" not in said


@pytest.mark.usefixtures("printed")
@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_the_cpp_reader_prints_a_golden_output_and_makes_what_has_a_seed(folder: Path) -> None:
    operator = core_suite().operators["openvino/Gather-8"]
    data = operator.inputs(operator.cases["gather-8/layer-example"])["data"]
    made = "".join(f"0x{bits:08x}\n" for bits in data.ravel()[:2].view(np.uint32))
    assert "".join(run(command, folder) for command in CPP) == f"4\n0\n0\n{made}"


def test_every_shown_file_is_used_by_a_command() -> None:
    used = " ".join(REST)
    modules = {"my_backend.py": "my_backend.py:Backend", "my_specs/reverse.py": "--specs my_specs"}
    for block in BLOCKS:
        if block.file:
            assert modules.get(block.file, block.file) in used


def test_every_linked_folder_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_what_expressions_can_call_is_all_listed() -> None:
    listed = set(re.findall(r"^\| [^|]+ \| `(\w+)\(", README, re.MULTILINE))
    ours = {
        *LAW_FUNCTIONS,
        *TENSOR_BUILDERS,
        *TENSOR_CHANGES,
        *DRAW_FUNCTIONS,
        *EXPRESSION_FUNCTIONS,
    } - set(dir(builtins))
    assert listed == ours


def test_the_roles_are_all_listed_with_their_keys() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ((?:`\w+`(?:, )?)+) \|$", README, re.MULTILINE)
    listed = {role: set(re.findall(r"\w+", keys)) for role, keys in rows}
    # The words of a mode are a key of every attribute.
    known = {
        name: role.model_fields.keys() - Role.model_fields.keys() for name, role in ROLES.items()
    }
    assert listed == {**known, "mode": {"one_of"}}


def test_a_new_operator_takes_a_spec_of_few_lines() -> None:
    (spec,) = (block.text for block in BLOCKS if block.file.endswith("Reverse-1.yaml"))
    assert len(spec.splitlines()) <= 25


def test_the_shown_declaration_is_right() -> None:
    block = next(b for b in BLOCKS if b.language == "python" and not b.file)
    shown: dict[str, object] = {}
    exec(block.text, shown)  # noqa: S102 -- the README's own
    declared = checked_support(SimpleNamespace(support=shown["support"]), core_suite()).declared
    assert declared is not None
    assert declared["openvino/Broadcast-1"].excluded == ["broadcast-1/explicit-mode"]


def test_every_file_in_code_quotes_exists() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", README)
    assert named
    assert all((ROOT / name).exists() for name in named)


def test_every_module_of_the_tests_that_is_named_runs() -> None:
    named = set(re.findall(r"python -m (tests(?:\.\w+)+)", README))
    packages = ("benchmarks", "browser", "mutation", "onnx_comparison")
    assert named == {f"tests.{each}" for each in (*packages, "backends.findings")}
    paths = [ROOT / name.replace(".", "/") for name in named]
    assert all((p / "__main__.py").is_file() or p.with_suffix(".py").is_file() for p in paths)


def test_the_table_of_faults_is_marked_and_has_each_operator() -> None:
    table = re.search(r"--markdown: begin -->\n(.+?)<!-- end -->", README, re.DOTALL)
    assert table is not None
    operators = re.findall(r"^\| (\w+/\S+) \|", table[1], re.MULTILINE)
    assert operators == [*core_suite().operators]
