"""Files that are written together: all of them or none, whatever ends the process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opcert import output_files
from opcert.commands.options import interruption_text
from opcert.errors import OpcertError
from opcert.output_files import check_output_folder, prepare_files, write_files
from tests.small_suite import contents

FORMER = {"a": b"former", "b": b"former", "sub/c": b"former"}
FILES = {"a": b"new", "sub/d": b"new", "last": b"new"}
# How the files get into place, by what a test changes beforehand.
WAYS = ("exchanged", "without a single step", "one by one")
NOTE = {"note.txt": b"mine"}


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def prepare(folder: Path, way: str) -> None:
    """Write the former files, and a file of the user where files are replaced one by one."""
    write(folder, FORMER if way != "one by one" else {**FORMER, **NOTE})
    if way == "without a single step":
        output_files._exchange = lambda *_: False


def at_step(step: int, end: Callable[[], None], patch: Callable[[Any, str, Any], None]) -> None:
    """End the process, or raise, after a number of changes of the file system."""
    steps = iter(range(10**6))

    def ending(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            result = function(*arguments, **keywords)
            if next(steps) == step:
                end()
            return result

        return call

    for name in ("rename", "replace", "mkdir", "unlink", "rmdir"):
        patch(os, name, ending(getattr(os, name)))
    patch(Path, "write_bytes", ending(Path.write_bytes))
    patch(output_files, "_exchange", ending(output_files._exchange))


def killed(root: Path, way: str) -> None:
    """Write in child processes, the first of which is killed after one step, the next after two."""
    for step in range(40):
        folder = root / f"{step}" / "out"
        prepare(folder, way)
        child = os.fork()
        if not child:
            at_step(step, lambda: os.kill(os.getpid(), signal.SIGKILL), setattr)
            write_files(folder, FILES, [*FORMER])
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            break


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("way", WAYS)
def test_after_a_kill_at_any_step_the_next_command_finds_all_files_or_none(
    way: str, tmp_path: Path
) -> None:
    # In a process without threads, which can fork.
    code = "import sys; from pathlib import Path; from tests import test_output_files as t;"
    code += "t.killed(Path(sys.argv[1]), sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path), way], check=True)
    own = NOTE if way == "one by one" else {}
    states = []
    for parent in sorted(tmp_path.iterdir(), key=lambda path: int(path.name)):
        found = contents(parent / "out")
        if way == "exchanged":
            assert found in (FORMER, FILES)
        check_output_folder(parent / "out")
        states.append(contents(parent / "out"))
        left = [path for path in parent.rglob(".opcert-*") if any(path.iterdir())]
        assert left == []
    assert [*states] == sorted(states, key=lambda state: state != {**FORMER, **own})
    assert {**FORMER, **own} in states
    assert states[-1] == {**FILES, **own}


@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_at_any_step_is_reported_truthfully(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    own = NOTE if way == "one by one" else {}
    monkeypatch.setattr(output_files, "_exchange", output_files._exchange)
    for step in range(40):
        folder = tmp_path / f"{step}" / "out"
        prepare(folder, way)
        monkeypatch.setattr(output_files, "written", [])
        with monkeypatch.context() as patch:
            at_step(step, interrupt, patch.setattr)
            try:
                write_files(folder, FILES, [*FORMER])
                break
            except KeyboardInterrupt:
                text = interruption_text()
        check_output_folder(folder)
        assert [path for path in folder.parent.rglob(".opcert-*") if any(path.iterdir())] == []
        if text == "opcert: interrupted; nothing was written":
            assert contents(folder) == {**FORMER, **own}
        else:
            assert text == f"opcert: interrupted; wrote to {folder}"
            assert contents(folder) == {**FILES, **own}
    assert step > 5


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(30, "No")])
@pytest.mark.parametrize("way", WAYS)
def test_a_failure_before_the_first_replacement_changes_nothing(
    way: str, error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(output_files, "_exchange", output_files._exchange)
    prepare(tmp_path / "out", way)
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        with pytest.raises(OpcertError, match=f"{error.strerror}; nothing was changed"):
            write_files(tmp_path / "out", FILES, [*FORMER])
    assert contents(tmp_path) == before


def test_a_folder_that_cannot_be_renamed_has_its_files_replaced_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise OSError(16, "Device or resource busy")

    order: list[str] = []
    replace = Path.replace

    def recorded(source: Path, place: Path) -> Path:
        order.append(place.name)
        return replace(source, place)

    monkeypatch.setattr(output_files, "_exchange_folder", busy)
    monkeypatch.setattr(Path, "replace", recorded)
    write(tmp_path / "out", FORMER)
    write_files(tmp_path / "out", FILES, [*FORMER])
    assert contents(tmp_path / "out") == FILES
    assert order == ["a", "d", "last"]


def test_the_current_folder_stays_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out", FORMER)
    monkeypatch.chdir(tmp_path / "out")
    write_files(Path(), FILES, [*FORMER])
    assert contents(Path()) == FILES


def test_a_folder_keeps_its_mode(tmp_path: Path) -> None:
    write(tmp_path / "out", FORMER)
    (tmp_path / "out").chmod(0o2770)
    write_files(tmp_path / "out", FILES, [*FORMER])
    assert (tmp_path / "out").stat().st_mode & 0o7777 == 0o2770


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_place_of_the_folder_is_not_followed(exists: bool, tmp_path: Path) -> None:
    if exists:
        write(tmp_path / "real", FORMER)
    (tmp_path / "out").symlink_to("real")
    before = contents(tmp_path)
    with pytest.raises(OpcertError, match="out: is a link, which is not followed"):
        write_files(tmp_path / "out", FILES, [*FORMER])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("way", WAYS)
def test_a_link_within_the_folder_is_not_followed(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_files, "_exchange", output_files._exchange)
    prepare(tmp_path / "out", way)
    write(tmp_path, {"mine": b"mine"})
    (tmp_path / "out" / "a").unlink()
    (tmp_path / "out" / "a").symlink_to("../mine")
    write_files(tmp_path / "out", FILES, [*FORMER])
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / "out" / "a").read_bytes() == b"new"


def test_a_linked_folder_within_the_folder_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "out", NOTE)
    write(tmp_path / "mine", NOTE)
    (tmp_path / "out" / "sub").symlink_to("../mine")
    with pytest.raises(OpcertError, match="sub is a link, which is not followed"):
        write_files(tmp_path / "out", FILES)
    assert contents(tmp_path / "mine") == NOTE


def test_the_stage_of_a_living_process_stays(tmp_path: Path) -> None:
    with prepare_files(tmp_path / "out") as prepared:
        prepared.add("a", b"new")
        (stage,) = tmp_path.iterdir()
        check_output_folder(tmp_path / "out")
        assert contents(stage) == {"new/a": b"new"}


def test_a_made_up_plan_does_nothing_outside_its_folder(tmp_path: Path) -> None:
    write(tmp_path, {"mine": b"mine", "out/.opcert-0/new/mine": b"new"})
    made_up: list[object] = [["../mine"], [f"{tmp_path}/mine"], [[]], 1, {"": []}]
    for names in made_up:
        plan = tmp_path / "out" / ".opcert-0" / "plan.json"
        write(plan.parent, {"new/mine": b"new"})
        plan.write_text(json.dumps({"remove": names, "move": names}))
        check_output_folder(tmp_path / "out")
        assert contents(tmp_path) == {"mine": b"mine"}


def test_prepared_files_change_nothing_until_they_are_put_in_place(tmp_path: Path) -> None:
    write(tmp_path / "out", FORMER)
    with prepare_files(tmp_path / "out") as prepared:
        prepared.add("a", b"new")
    assert contents(tmp_path) == {f"out/{name}": data for name, data in FORMER.items()}


def test_an_error_while_files_are_prepared_leaves_nothing(tmp_path: Path) -> None:
    def prepare_one() -> None:
        with prepare_files(tmp_path / "new" / "out") as prepared:
            prepared.add("a", b"new")
            raise OpcertError("a spec has mistakes")

    with pytest.raises(OpcertError, match="a spec has mistakes"):
        prepare_one()
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("within", [False, True])
def test_a_file_that_comes_while_files_are_prepared_stays(within: bool, tmp_path: Path) -> None:
    write(tmp_path / "out", FORMER)
    with prepare_files(tmp_path / "out", within=within) as prepared:
        for name, data in FILES.items():
            prepared.add(name, data)
        write(tmp_path / "out", NOTE)
        prepared.put_in_place([*FORMER])
    assert contents(tmp_path / "out") == {**FILES, **NOTE}
    assert [path.name for path in tmp_path.rglob(".opcert-*")] == []
