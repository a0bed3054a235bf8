"""The files of a backend's code: which they are, and that a change during a run is noticed."""

from hashlib import sha256
from pathlib import Path

import pytest

from opcert import Certificate, certify
from opcert.backends.lookup import SourceFiles
from opcert.verification import verify_certificate
from tests.faults.finding import core_suite

CHANGES = """
import os
from pathlib import Path

PATH = Path(__file__)

class Backend:
    name, version = "changes", "1"
    def run(self, operator, inputs, attributes):
        PATH.write_text(PATH.read_text() + "#")
        raise NotImplementedError

class Undoes(Backend):
    def run(self, operator, inputs, attributes):
        if PATH.read_text().endswith("#"):
            PATH.write_text(PATH.read_text().rstrip("#"))
            PATH.with_name("undone").touch()
        elif not PATH.with_name("undone").exists():
            PATH.write_text(PATH.read_text() + "#")
            os.abort()
        raise NotImplementedError
"""


def run(folder: Path, name: str = "Backend", isolated: bool = False) -> Certificate:
    (folder / "mine.py").write_text(CHANGES)
    return certify(
        f"{folder / 'mine.py'}:{name}", core_suite(), isolated=isolated, case="*/example-1"
    )


def test_a_certificate_has_the_digest_of_the_backends_file(tmp_path: Path) -> None:
    certificate = run(tmp_path)
    digest = sha256(CHANGES.encode()).hexdigest()
    assert certificate.backend.files == {"mine.py": digest}


@pytest.mark.parametrize("isolated", [False, True])
def test_a_change_is_noticed_at_the_end(tmp_path: Path, isolated: bool) -> None:
    assert run(tmp_path, isolated=isolated).run.changed == ("mine.py",)


def test_a_change_is_noticed_at_a_restart_even_if_it_is_undone(tmp_path: Path) -> None:
    # The first process changes its file and crashes, and the second one restores it.
    assert run(tmp_path, "Undoes", isolated=True).run.changed == ("mine.py",)
    assert (tmp_path / "mine.py").read_text() == CHANGES


def test_an_unchanged_file_is_not_reported() -> None:
    assert (
        certify("tests.wrong_backends:Right", core_suite(), isolated=False, case="x").run.changed
        == ()
    )


def test_verify_reports_a_change(tmp_path: Path) -> None:
    places = {finding.place for finding in verify_certificate(run(tmp_path), core_suite())}
    assert places == {"run.changed"}


@pytest.mark.parametrize(
    ("backend", "files"),
    [
        ("mine.py:Backend", ["mine.py"]),
        ("mine:Backend", ["mine.py"]),
        ("acme.ops:Backend", ["ops.py"]),
        ("acme:Backend", ["__init__.py"]),
        ("driver:env python mine.py --fast 'a b'", ["env", "mine.py"]),
        ("driver:env acme/ops.py other/ops.py", ["env", "acme/ops.py", "other/ops.py"]),
        ("driver:'", []),
        ("driver:", []),
        ("none.py:Backend", []),
        ("none.ops:Backend", []),
        ("torch", []),
        ("unknown", []),
        ("", []),
    ],
)
def test_the_files_follow_from_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, files: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("acme", "other"):
        (tmp_path / folder).mkdir()
    for name in ("mine.py", "acme/__init__.py", "acme/ops.py", "other/ops.py"):
        (tmp_path / name).touch()
    assert [*SourceFiles(backend).digests] == files
