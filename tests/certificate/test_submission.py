"""Submissions: written whole, and every change of the folder is found."""

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from opcert import read_certificate, verification
from opcert.certificate.file import (
    MAX_CERTIFICATE_BYTES,
    file_digest,
    submission_path,
    write_submission,
)
from opcert.errors import OpcertError
from opcert.report.files import report_files
from tests import handed_in
from tests import wrong_backends as wrong
from tests.at_length import at_length
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.handed_in import GIVEN, named, recorded, without, write
from tests.made_certificate import DIGEST
from tests.small_suite import contents, failing_at
from tests.tamperings import part

CASES = ("--operator", "directml/DML_OPERATOR_SPLIT", "--case", "dml-split/drawn-u8-*")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "out").parent


def test_an_untouched_folder_is_sound_even_if_not_conformant(folder: Path) -> None:
    result = opcert("verify", folder, exits=0)
    waived = handed_in.certificate().counts["waived"]
    assert waived > 0
    start = f"sound: NOT CONFORMANT, {waived} failures waived: right 1 on core suite "
    assert result.stdout.startswith(start)
    assert result.stdout.endswith("; not checked: who made it (no signature)\n")


def test_the_certificate_alone_is_checked_without_the_files(folder: Path) -> None:
    result = opcert("verify", folder / "certificate.json", exits=0)
    assert "not checked: who made it (no signature), the files next to it (name the folder)" in (
        result.stdout
    )


def write_file(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def link(name: str, target: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return change


def make_pipe(folder: Path) -> None:
    without("claim.yaml")(folder)
    os.mkfifo(folder / "claim.yaml")


def link_a_folder(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    shutil.copy(folder / "claim.yaml", folder.parent / "elsewhere")
    (folder / "linked").symlink_to(folder.parent / "elsewhere")
    digest = read_certificate(folder / "certificate.json").files["claim.yaml"]
    named("linked/claim.yaml", digest)(folder)


def reformat(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2) + "\n")


def append_a_line(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(path.read_text() + "\n")


def forge(name: str, text: str = "forged") -> Callable[[Path], object]:
    """Return a change that writes a file, and its digest into the certificate."""

    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        named(name, sha256(text.encode()).hexdigest())(folder)

    return change


def omit(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        without(name)(folder)
        recorded(lambda data: data["files"].pop(name))(folder)

    return change


# The same scope in another order.
CLAIMED = {"types": ["u8", "i8", "f16", "f32"], "ranks": [1, 2, 3, 4, 5]}
UNNAMED = "the certificate does not name this file"
RENDERED = "found .*; opcert renders this certificate"
TAMPERINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "another file": (write_file("notes.txt", "x"), rf"notes\.txt: {UNNAMED}"),
    "a hidden file": (write_file(".notes", "x"), rf"\.notes: {UNNAMED}"),
    "a link to elsewhere": (link("link", "/etc/passwd"), f"link: {UNNAMED}"),
    "no claim": (without("claim.yaml"), r"files\.claim\.yaml: found No such file"),
    "another claim": (write_file("claim.yaml", "operators: {}\n"), r"files\.claim\.yaml: found a"),
    "other waivers": (
        write_file("waivers.yaml", "[]\n"),
        r"files\.waivers\.yaml: found a file with",
    ),
    "a claim that is a link": (link("claim.yaml", "/etc/hosts"), "found a link, which is not"),
    "a claim that is a pipe": (make_pipe, r"files\.claim\.yaml: found not a file"),
    "a folder that is a link": (link_a_folder, "found a link in the path, which is not followed"),
    "a missing file": (named("a/b.html", DIGEST), r"files\.a/b\.html: found No such"),
    "another digest": (named("claim.yaml", DIGEST), r"files\.claim\.yaml: found .*; expected"),
    "a claim that is not named": (
        recorded(lambda data: data["files"].pop("claim.yaml")),
        r"files\.claim\.yaml: missing file",
    ),
    "another claim in the certificate": (
        recorded(part("claim", "content", "operators", handed_in.SPLIT, value=CLAIMED)),
        r"claim\.content: differs from the content of claim\.yaml",
    ),
    "an extended waiver": (
        recorded(part("waivers", "content", 0, "expires", value="9999-12-30")),
        r"waivers\.content: differs from the content of waivers\.yaml",
    ),
    "no waivers": (
        recorded(part("waivers", value=None)),
        r"files\.waivers\.yaml: opcert writes no such file for such a run",
    ),
    "another report": (forge("report.html"), rf"files\.report\.html: {RENDERED}"),
    "other results": (forge("junit.xml"), rf"files\.junit\.xml: {RENDERED}"),
    "a file that is named": (forge("notes.txt"), r"files\.notes\.txt: opcert writes no such file"),
    "no report": (omit("report.html"), r"files\.report\.html: missing file; expected one for"),
    "no results": (omit("junit.xml"), r"files\.junit\.xml: missing file; expected one for"),
    "another backend than the report's": (
        recorded(part("backend", "name", value="fine")),
        rf"files\.report\.html: {RENDERED}",
    ),
    "another format": (reformat, r"certificate\.json: line 2 is not formatted as opcert"),
    "an additional line": (
        append_a_line,
        r"certificate\.json: line \d+ is not formatted as opcert",
    ),
}


@pytest.mark.parametrize("name", at_length(TAMPERINGS, 6))
def test_a_tampering_with_the_folder_is_found(folder: Path, name: str) -> None:
    change, expected = TAMPERINGS[name]
    change(folder)
    result = opcert("verify", folder, exits=1)
    *findings, last = result.stdout.splitlines()
    assert [each for each in findings if re.search(expected, each)], result.stdout
    assert last.startswith(f"not sound: {len(findings)} finding")


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a terminal control sequence": (
        lambda folder: rewrite(folder, **{"a\x1b[2J": 1}),
        r"a\x1b[2J: unknown key",
    ),
    "a link": (link("certificate.json", "/etc/passwd"), "a link, which is not followed"),
    "no certificate": (without("certificate.json"), "No such file or directory; expected a"),
}


def rewrite(folder: Path, **parts: object) -> None:
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **parts}))


@pytest.mark.parametrize("name", REFUSED)
def test_a_certificate_that_contradicts_itself_is_refused_with_one_message(
    folder: Path, name: str
) -> None:
    change, expected = REFUSED[name]
    change(folder)
    result = opcert("verify", folder, exits=2)
    assert expected in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_files_that_are_too_large_are_not_read(folder: Path) -> None:
    os.truncate(folder / "claim.yaml", MAX_CERTIFICATE_BYTES + 1)
    assert "files.claim.yaml: found more than 256 MiB" in opcert("verify", folder).stdout


def test_only_so_many_files_are_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "MAX_FILES", 2)
    result = opcert("verify", folder)
    assert "found 2 files or more; only the first ones were checked" in result.stdout


# What the command writes for a finished run.
REPORTED = {"certificate.json", "report.html", "junit.xml"}


def test_the_submission_has_copies_of_claim_and_waivers(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(f"# mine\n{GIVEN['claim.yaml']}")
    # An earlier submission is replaced with all its files.
    out = write(tmp_path / "out").parent
    opcert("certify", *CASES, "--claim", tmp_path / "mine.yaml", "--out", out, exits=0)
    assert {each.name for each in out.iterdir()} == {"claim.yaml", *REPORTED}
    assert (out / "claim.yaml").read_bytes() == (tmp_path / "mine.yaml").read_bytes()
    opcert("verify", out, exits=0)


def test_nested_files_are_written_named_and_removed_again(tmp_path: Path) -> None:
    target = submission_path(tmp_path, None)
    written = write_submission(handed_in.certificate(), target, {"a/b/c.html": b"x", "d.xml": b"y"})
    assert list(written.files) == ["a/b/c.html", "d.xml"]
    assert read_certificate(target) == written
    assert submission_path(tmp_path, None) == target
    write_submission(written, target, {"a/e.html": b"x"})
    names = [each.relative_to(tmp_path).as_posix() for each in sorted(tmp_path.rglob("*"))]
    assert names == ["a", "a/e.html", "certificate.json"]


@pytest.mark.parametrize("number", range(7))
def test_what_an_interrupted_command_wrote_is_replaced(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / "certificate.json"
    with monkeypatch.context() as patch:
        failing_at(number, KeyboardInterrupt(), patch)
        with pytest.raises(KeyboardInterrupt):
            write_submission(
                handed_in.certificate(), target, dict.fromkeys(("a", "b/c", "claim.yaml"), b"x")
            )
    assert submission_path(folder, None) == target
    write_submission(handed_in.certificate(), target, {"a": b"y"})
    assert {*contents(folder)} == {"a", "certificate.json"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (write_file("thesis.txt", "x"), "thesis.txt"),
        (write_file("claim.yaml", "x"), "claim.yaml"),
        (link("waivers.yaml", "/etc/hosts"), "waivers.yaml"),
        (link("linked", "/"), "linked"),
    ],
)
def test_other_files_are_left_alone(
    folder: Path, change: Callable[[Path], object], name: str
) -> None:
    change(folder)
    before = {each: each.lstat().st_mtime_ns for each in folder.iterdir()}
    result = opcert("certify", *CASES, "--out", folder, exits=2)
    assert f"contains {name}, not part of results that opcert wrote" in result.stderr
    assert {each: each.lstat().st_mtime_ns for each in folder.iterdir()} == before


def test_files_outside_the_folder_are_not_removed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    (tmp_path / "out").mkdir()
    text = handed_in.certificate().to_json()
    assert '"files": {}' in text
    text = text.replace('"files": {}', '"files": {"../mine": "0", "/etc/hosts": "0"}')
    (tmp_path / "out" / "certificate.json").write_text(text)
    target = submission_path(tmp_path / "out", None)
    write_submission(handed_in.certificate(), target, {})
    assert (tmp_path / "mine").read_text() == "x"


@pytest.mark.parametrize("text", ['{"files": {"mine": "0"}}', "my own", "[]"])
def test_another_file_of_its_name_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text)
    result = opcert("certify", *CASES, "--out", tmp_path, exits=2)
    assert "contains certificate.json, not part of results" in result.stderr
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
        ("certificate.json", text)
    ]


def test_a_folder_that_cannot_be_written_keeps_the_earlier_submission(folder: Path) -> None:
    before = contents(folder)
    with pytest.raises(OpcertError, match="cannot be written"):
        write_submission(
            handed_in.certificate(), folder / "certificate.json", {"a": b"", "a/b": b""}
        )
    assert contents(folder) == before


def test_the_same_run_at_another_time_has_the_same_digests() -> None:
    first, platform = handed_in.certificate(), handed_in.certificate().platform
    later = first.replace(
        platform=platform.model_copy(update={"date": "2030-01-31T01:02:03+00:00"}),
        verdicts=tuple(replace(v, seconds=2 * v.seconds + 1e-7) for v in first.verdicts),
    )
    files, others = handed_in.report(), report_files(later, core_suite())
    assert files["report.html"] != others["report.html"]
    assert files["junit.xml"] != others["junit.xml"]
    for name, data in files.items():
        assert file_digest(name, data) == file_digest(name, others[name])


def test_a_changed_time_in_a_report_is_found(folder: Path) -> None:
    path = folder / "report.html"
    path.write_text(path.read_text().replace("<span data-time>2", "<span data-time>1", 1))
    assert "report.html: found other times than those of the" in opcert("verify", folder).stdout


def test_files_of_others_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").write_bytes(b"content")
    read: list[Path] = []
    monkeypatch.setattr("opcert.certificate.file.file_digest", lambda file, _: read.append(file))
    with pytest.raises(OpcertError, match="contains large"):
        submission_path(tmp_path, None)
    assert not read


def test_the_report_of_another_version_is_not_compared(folder: Path) -> None:
    forge("report.html")(folder)
    recorded(part("platform", "opcert", value="99.1"))(folder)
    result = opcert("verify", folder, exits=0)
    assert "; made by opcert 99.1, checked with the rules of " in result.stdout
    assert "the report (another version of opcert made it)" in result.stdout


def test_an_unfinished_run_has_no_report(tmp_path: Path) -> None:
    backend = f"{wrong.__file__}:ReturnsItsInput"
    out = tmp_path / "out"
    run = "certify", "--backend", backend, "--case", "dml-split/*-f32-*", "-x"
    opcert(*run, "--out", out, exits=1)
    assert {each.name for each in out.iterdir()} == {"certificate.json"}
    opcert("verify", out, exits=0)
    forge("report.html")(out)
    result = opcert("verify", out, exits=1)
    assert "opcert writes no such file for an unfinished run" in result.stdout
