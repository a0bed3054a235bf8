"""Every command of the guides runs, and prints what the guide says."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.core import TyperCommand
from typer.main import get_command

from opcert.cli import Opcert, app
from tests.command_line import opcert
from tests.guides.guides import FOLDERS, GUIDES, ROOT, Block, Command, Guide, with_guide

# What a machine may lack: programs, and packages by the backend that needs them.
PROGRAMS = ("c++", "node", "openssl")
PACKAGES = {
    "torch": "torch",
    "jax": "jax",
    "onnxruntime": "onnxruntime",
    "openvino": "openvino",
    "array-api": "array_api_strict",
}
# The packages that blocks about a format need, by what they name.
FORMATS = {"onnx_tests": "onnxruntime", "safetensors": "safetensors"}


def missing(block: Block) -> Iterator[str]:
    """Yield what the commands of a block need and this machine lacks."""
    for program in PROGRAMS:
        if re.search(rf"^{re.escape(program)} ", block.text, re.MULTILINE) and not shutil.which(
            program
        ):
            yield program
    if "python -m sphinx" in block.text and find_spec("myst_parser") is None:
        yield "sphinx"
    yield from (
        package
        for name, package in FORMATS.items()
        if name in block.text and not find_spec(package)
    )
    for backend in re.findall(r"--backend (\S+)", block.text):
        package = PACKAGES.get(backend.removesuffix("_backend.py:Backend"))
        if package and find_spec(package) is None:
            yield package


def prepare(guide: Guide, folder: Path) -> None:
    """Write the files that a guide shows, and copy the folders that its commands name."""
    for name in FOLDERS:
        if any(re.search(rf"[ =]{name}(/|$| )", command.text) for command in guide.commands):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for block in guide.blocks:
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def run(command: Command, folder: Path) -> None:
    """Run a command in `folder`; it has the exit code and the output that its guide says."""
    if command.text.startswith("opcert ") and not re.search(r"[|<>&;$`]|/\* ", command.text):
        # Without a shell and a new interpreter, which take a second.
        with contextlib.chdir(folder):
            result = opcert(*shlex.split(command.text, comments=True)[1:])
        exit_code, stdout, stderr = result.exit_code, result.stdout, result.stderr
    else:
        bin_folder = Path(sys.executable).parent
        environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("PYTEST_ADDOPTS", None)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.text],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        exit_code, stdout, stderr = done.returncode, done.stdout, done.stderr
    assert exit_code == command.exit_code, f"{command.text}\n{stdout}{stderr}"
    if command.expected is not None:
        pattern = ".*".join(map(re.escape, command.expected.split("...")))
        assert re.fullmatch(pattern, stdout.strip(), re.DOTALL), f"{command.text}\n{stdout}"


def run_all(guide: Guide, folder: Path, slow: bool) -> None:
    """Run the commands of a guide, the slow ones where they are asked for."""
    prepare(guide, folder)
    left_out: set[str] = set()
    for block in guide.blocks:
        if not block.runs or (block.slow and not slow):
            continue
        if lacks := set(missing(block)):
            left_out |= lacks
            continue
        for command in block.commands:
            if not is_tried_elsewhere(command):
                run(command, folder)
    if left_out:
        pytest.skip(f"all ran but the commands that need {', '.join(sorted(left_out))}")


def is_tried_elsewhere(command: Command) -> bool:
    """Whether `.ci/run` tries a command: it makes an environment, or needs the whole core suite."""
    return command.text.startswith(("python3 -m venv ", "opcert generate --check --out generated"))


# Their quick commands take many seconds, too.
SLOW = [each for each in GUIDES if re.match(r"README|specs/README|generat", each.name)]


@pytest.mark.parametrize("guide", [each for each in GUIDES if each not in SLOW], ids=repr)
def test_the_quick_commands_succeed(guide: Guide, tmp_path: Path) -> None:
    run_all(guide, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "guide",
    [each for each in GUIDES if each in SLOW or any(block.slow for block in each.blocks)],
    ids=repr,
)
def test_every_command_succeeds(guide: Guide, tmp_path: Path) -> None:
    run_all(guide, tmp_path, slow=True)


def command_of(name: str) -> TyperCommand:
    group = get_command(app)
    assert isinstance(group, Opcert)
    return group.load(name)


@with_guide
def test_commands_have_options_that_opcert_knows(guide: Guide) -> None:
    for command in guide.commands:
        # The variable of a loop is a number.
        line = re.sub(r"\$\w+", "1", command.text)
        for text in re.findall(r"(?:^|&& |[;o] +)(opcert .+?)(?= > | && | \| |; |$)", line):
            name, *arguments = shlex.split(text, comments=True)[1:]
            command_of(name).make_context(name, arguments)


@with_guide
def test_commands_named_in_the_text_exist(guide: Guide) -> None:
    for span in guide.inline_code:
        match = re.match(r"opcert ([a-z][a-z-]*)", span)
        if match:
            known = {option for each in command_of(match[1]).params for option in each.opts} | {
                "--help"
            }
            assert set(re.findall(r"(?<= )--[a-z-]+", span)) <= known, span


@with_guide
def test_modules_and_extras_that_commands_name_exist(guide: Guide) -> None:
    for command in guide.commands:
        for module in re.findall(r"python -m (tests(?:\.\w+)*)", command.text):
            path = ROOT / module.replace(".", "/")
            assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file(), module
        for extras in re.findall(r"pip install .*\[([\w,-]+)\]", command.text):
            text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
            assert all(f"\n{extra} = [" in text for extra in extras.split(",")), extras


@with_guide
def test_every_file_is_used_by_a_command_or_a_file(guide: Guide) -> None:
    used = "\n".join(
        [
            *(command.text for command in guide.commands),
            *(block.text for block in guide.blocks if block.file),
        ]
    )
    for block in guide.blocks:
        if block.file:
            path = Path(block.file)
            names = {path.name, f"from {path.stem} import", f"--specs {path.parent}"}
            assert any(name in used for name in names), block.file
