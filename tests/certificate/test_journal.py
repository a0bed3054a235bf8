"""A journal has the verdicts of a run that was killed."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from opcert import certify
from opcert.certificate.journal import JOURNAL_DRAFT_FILE, JOURNAL_FILE, Journal, read_journal
from opcert.certificate.submission import submission_path
from opcert.errors import OpcertError
from tests.command_line import MISBEHAVING, WRONG
from tests.faults.finding import core_suite

SPLIT = "directml/*"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Return the journal of a run that was not killed."""
    path = tmp_path / JOURNAL_FILE
    backend = f"{WRONG}:AcceptsEverything"
    certify(backend, core_suite(), operator=SPLIT, case="*-f32-*", journal=path)
    return path


def test_a_journal_has_all_verdicts(journal: Path) -> None:
    reached = read_journal(journal)
    assert len(reached.verdicts) == len(core_suite().select(SPLIT, "*-f32-*"))


def test_a_resumed_run_confirms_what_the_journal_has(journal: Path) -> None:
    run = partial(
        certify, f"{WRONG}:AcceptsEverything", core_suite(), operator=SPLIT, case="*-f32-*"
    )
    whole, resumed = run(), run(resume=read_journal(journal))
    assert resumed.verdicts == whole.verdicts
    assert resumed.causes == whole.causes


def test_a_line_that_was_cut_short_is_ignored(journal: Path) -> None:
    count = len(read_journal(journal).verdicts)
    journal.write_bytes(journal.read_bytes()[:-5])
    assert len(read_journal(journal).verdicts) == count - 1


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"[]\n", b"1\n\xff\n", b'{"opcert_journal": 1}\n']
)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / JOURNAL_FILE
    path.write_bytes(content)
    with pytest.raises(OpcertError, match=r"journal\.jsonl: "):
        read_journal(path)


def test_a_file_of_a_user_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).write_text("{}\n")
    with pytest.raises(OpcertError, match="not part of a submission"):
        submission_path(tmp_path, None)


def test_a_journal_that_is_left_is_replaced(journal: Path) -> None:
    assert submission_path(journal.parent, None).parent == journal.parent


def test_a_link_is_not_followed(journal: Path, tmp_path: Path) -> None:
    target = tmp_path / "other"
    journal.rename(target)
    before = target.read_bytes()
    journal.symlink_to(target)
    Journal(journal, read_journal(target)).close()
    assert target.read_bytes() == before
    assert not journal.is_symlink()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OpcertError, match="cannot be written"):
        certify(
            f"{MISBEHAVING}:Behaves",
            core_suite(),
            case="dml-split/example-1",
            journal=tmp_path / "file" / JOURNAL_FILE,
        )


@pytest.mark.parametrize("content", [b"", b'{"opcert_journal": {"cut'])
def test_the_draft_of_a_killed_run_is_replaced(content: bytes, tmp_path: Path) -> None:
    (tmp_path / JOURNAL_DRAFT_FILE).write_bytes(content)
    assert submission_path(tmp_path, core_suite().folder).parent == tmp_path
    (tmp_path / JOURNAL_DRAFT_FILE).write_text("mine")
    with pytest.raises(OpcertError, match=r"contains journal\.jsonl\.new, not part"):
        submission_path(tmp_path, core_suite().folder)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_no_draft(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / JOURNAL_DRAFT_FILE)
    with pytest.raises(OpcertError, match=r"journal\.jsonl\.new"):
        certify(
            f"{WRONG}:AcceptsEverything",
            core_suite(),
            case="dml-split/example-1",
            journal=submission_path(tmp_path, core_suite().folder).with_name(JOURNAL_FILE),
        )
