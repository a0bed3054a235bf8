"""Files that are written together: each is the former or the new one, whatever ends the process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from opcert import system
from opcert.commands.options import interruption_text
from opcert.errors import OpcertError
from opcert.system import write_files
from tests.small_suite import contents, failing_at

FORMER = {"a": b"former", "b": b"former", "sub/c": b"former"}
FILES = {"a": b"new", "new/d": b"new", "last": b"new"}
NOTE = {"note.txt": b"mine"}


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with former files and a file of the user."""
    put(tmp_path / "out", {**FORMER, **NOTE})
    return tmp_path / "out"


def test_new_files_replace_the_former_ones_and_all_others_stay(out: Path) -> None:
    write_files(out, FILES.items(), FORMER)
    assert contents(out) == {**FILES, **NOTE}
    assert sorted(path.name for path in out.iterdir()) == ["a", "last", "new", "note.txt"]


@pytest.mark.parametrize(
    ("error", "caught", "text"),
    [
        (
            OSError(5, "Input/output error"),
            OpcertError,
            "some files were replaced; run the command",
        ),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)
@pytest.mark.parametrize("step", range(5))
def test_a_write_that_ends_midway_leaves_each_file_old_or_new_and_the_next_completes_it(
    step: int,
    error: BaseException,
    caught: type[BaseException],
    text: str | None,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(system, "written", [])
        failing_at(step, error, patch)
        with pytest.raises(caught, match=text):
            write_files(out, FILES.items(), FORMER)
        assert interruption_text() == f"opcert: interrupted; wrote to {out}"
    found = {name: data for name, data in contents(out).items() if not name.startswith(".opcert-")}
    states = {**FORMER, **NOTE}, FILES
    assert all(any(state.get(name) == data for state in states) for name, data in found.items())
    # The last file, which may name the others, is new only when all is done.
    assert "last" not in found
    write_files(out, FILES.items(), FORMER)
    assert contents(out) == {**FILES, **NOTE}


def test_a_failure_before_the_first_move_changes_nothing(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", fail)
        for folder in (out, tmp_path / "other"):
            with pytest.raises(OpcertError, match="No space left on device; nothing was changed"):
                write_files(folder, FILES.items(), FORMER)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "error", [OpcertError("a spec has mistakes"), KeyboardInterrupt("an interrupt")]
)
def test_an_error_or_an_interrupt_while_files_are_made_changes_nothing(
    error: BaseException, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> Iterator[tuple[str, bytes]]:
        yield from FILES.items()
        raise error

    before = contents(tmp_path)
    monkeypatch.setattr(system, "written", [])
    for folder in (out, tmp_path / "other"):
        with pytest.raises(type(error), match=str(error)):
            write_files(folder, made(), FORMER)
    assert interruption_text() == "opcert: interrupted; nothing was written"
    assert contents(tmp_path) == before


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_has_the_name_of_the_hidden_folder_makes_way_for_it(kind: str, out: Path) -> None:
    put(out.parent / "mine", {"c": b"mine"})
    if kind == "file":
        (out / ".opcert-new").write_bytes(b"")
    else:
        (out / ".opcert-new").symlink_to("../mine")
    write_files(out, FILES.items(), FORMER)
    assert contents(out) == {**FILES, **NOTE}
    assert contents(out.parent / "mine") == {"c": b"mine"}


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_place_of_the_folder_is_not_followed(exists: bool, tmp_path: Path) -> None:
    if exists:
        put(tmp_path / "real", FORMER)
    (tmp_path / "out").symlink_to("real")
    before = contents(tmp_path)
    with pytest.raises(OpcertError, match="out: is a link, which is not followed"):
        write_files(tmp_path / "out", FILES.items(), FORMER)
    assert contents(tmp_path) == before


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(out: Path) -> None:
    put(out.parent, {"mine": b"mine"})
    (out / "a").unlink()
    (out / "a").symlink_to("../mine")
    write_files(out, FILES.items(), FORMER)
    assert (out.parent / "mine").read_bytes() == b"mine"
    assert (out / "a").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["new", "sub"])
def test_a_link_in_place_of_a_folder_within_is_an_error(name: str, out: Path) -> None:
    put(out.parent / "mine", {"c": b"mine"})
    (out / "sub" / "c").unlink()
    (out / "sub").rmdir()
    (out / name).symlink_to("../mine")
    with pytest.raises(OpcertError, match=r"cannot be written: .*; nothing was changed"):
        write_files(out, FILES.items(), FORMER)
    assert contents(out.parent / "mine") == {"c": b"mine"}
    assert (out / "a").read_bytes() == b"former"
