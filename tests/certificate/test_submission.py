"""The folder that is handed in: written whole, and read where a stranger has changed it."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opcert import read_certificate
from opcert.certificate import submission, submission_path, write_submission
from opcert.certificate.entries import current_platform
from opcert.errors import OpcertError
from opcert.verification import submission_checks
from tests import handed_in
from tests.command_line import opcert
from tests.handed_in import GIVEN, named, without, write, write_changed
from tests.small_suite import contents
from tests.tamperings import waiver

CASES = ("--operator", "directml/*", "--case", "dml-split/axis-range*")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "out").parent


def test_an_untouched_folder_is_sound_also_where_it_is_not_conformant(folder: Path) -> None:
    result = opcert("verify", folder)
    assert result.exit_code == 0
    waived = handed_in.certificate().counts["waived"]
    assert waived > 0
    start = f"sound: NOT CONFORMANT, {waived} failures waived: right 1 on core suite "
    assert result.stdout.startswith(start)
    assert result.stdout.endswith("; not checked: who made it (no signature)\n")


def test_the_certificate_alone_is_checked_without_the_files(folder: Path) -> None:
    result = opcert("verify", folder / "certificate.json")
    assert result.exit_code == 0
    assert "not checked: who made it (no signature), the files beside it (name the folder)" in (
        result.stdout
    )


def replaced(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def linked(name: str, target: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return change


def piped(folder: Path) -> None:
    without("claim.yaml")(folder)
    os.mkfifo(folder / "claim.yaml")


def held_elsewhere(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    shutil.copy(folder / "claim.yaml", folder.parent / "elsewhere")
    (folder / "linked").symlink_to(folder.parent / "elsewhere")
    digest = read_certificate(folder / "certificate.json").files["claim.yaml"]
    named("linked/claim.yaml", digest)(folder)


def reformatted(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2) + "\n")


def lengthened(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(path.read_text() + "\n")


def claimed_otherwise(folder: Path) -> None:
    """Change what the certificate says of the claim where that changes no scope."""
    claim = "claim", "content", "operators", handed_in.SPLIT
    scope = {"types": ["u8", "i8", "f16", "f32"], "ranks": [1, 2, 3, 4, 5]}

    def change(data: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
        data[claim[0]][claim[1]][claim[2]][claim[3]] = scope

    write_changed(folder, change)


DIGEST = "0123456789abcdef" * 4
PLATFORM = current_platform().model_dump()
TAMPERINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file more": (replaced("notes.txt", "x"), r"notes\.txt: is not among the files"),
    "a hidden file": (replaced(".notes", "x"), r"\.notes: is not among the files"),
    "a link out": (linked("link", "/etc/passwd"), "link: is not among the files"),
    "no claim": (without("claim.yaml"), r"files\.claim\.yaml: found No such file"),
    "another claim": (replaced("claim.yaml", "operators: {}\n"), r"files\.claim\.yaml: found a"),
    "other waivers": (replaced("waivers.yaml", "[]\n"), r"files\.waivers\.yaml: found a file with"),
    "a claim that is a link": (linked("claim.yaml", "/etc/hosts"), "found a link, which is not"),
    "a claim that is a pipe": (piped, r"files\.claim\.yaml: found not a file"),
    "a folder that is a link": (held_elsewhere, "found a link on the way, which is not followed"),
    "a file that is not there": (named("a/b.html", DIGEST), r"files\.a/b\.html: found No such"),
    "a digest changed": (named("claim.yaml", DIGEST), r"files\.claim\.yaml: found .*; expected"),
    "a claim that is not named": (
        lambda folder: write_changed(folder, lambda data: data["files"].pop("claim.yaml")),
        r"files\.claim\.yaml: found none",
    ),
    "what the claim says": (claimed_otherwise, r"claim\.content: is not what claim\.yaml says"),
    "a waiver extended": (
        lambda folder: write_changed(folder, waiver(expires="9999-12-30")),
        r"waivers\.content: is not what waivers\.yaml says",
    ),
    "no waivers": (
        lambda folder: write_changed(folder, lambda data: data.update(waivers=None)),
        r"files\.waivers\.yaml: found one, while the certificate has no waivers",
    ),
    "another form": (reformatted, r"certificate\.json: line 2 is not as opcert writes it"),
    "a byte behind the end": (
        lengthened,
        r"certificate\.json: line \d+ is not as opcert writes it",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_with_the_folder_is_found_and_named(folder: Path, name: str) -> None:
    change, wanted = TAMPERINGS[name]
    change(folder)
    result = opcert("verify", folder)
    assert result.exit_code == 1
    *flaws, last = result.stdout.splitlines()
    assert [each for each in flaws if re.search(wanted, each)], result.stdout
    assert last.startswith(f"not sound: {len(flaws)} flaw")


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a name that leads out": (
        lambda folder: rewritten(folder, files={"../x": DIGEST}),
        "files.../x.[key]: found",
    ),
    "an absolute name": (
        lambda folder: rewritten(folder, files={"/etc/passwd": DIGEST}),
        "files./etc/passwd.[key]: found",
    ),
    "a count": (lambda folder: rewritten(folder, summary={}), "summary.cases: found nothing"),
    "the conclusion": (lambda folder: rewritten(folder, conformant=True), "conformant: found true"),
    "the grade": (lambda folder: rewritten(folder, grade="bit-exact"), "grade: found"),
    "the reasons": (lambda folder: rewritten(folder, reasons=[]), "reasons: found []"),
    "what a terminal obeys": (
        lambda folder: rewritten(folder, **{"a\x1b[2J": 1}),
        r"a\x1b[2J: unknown key",
    ),
    "a key more": (lambda folder: rewritten(folder, signed=True), "signed: unknown key"),
    "cut short": (
        lambda folder: os.truncate(folder / "certificate.json", 1000),
        "not JSON",
    ),
    "a platform with a folder": (
        lambda folder: rewritten(folder, platform={**PLATFORM, "system": "Linux, /home/jane"}),
        'platform.system: found "Linux, /home/jane"',
    ),
    "a version that is none": (
        lambda folder: rewritten(folder, platform={**PLATFORM, "opcert": "0.1.0\nsound"}),
        "platform.opcert: found",
    ),
    "a link": (linked("certificate.json", "/etc/passwd"), "a link, which is not followed"),
    "no certificate": (without("certificate.json"), "No such file or directory; expected a"),
}


def rewritten(folder: Path, **parts: object) -> None:
    path = folder / "certificate.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **parts}))


@pytest.mark.parametrize("name", REFUSED)
def test_what_contradicts_itself_is_refused_with_one_message(folder: Path, name: str) -> None:
    change, wanted = REFUSED[name]
    change(folder)
    result = opcert("verify", folder)
    assert result.exit_code == 2
    assert wanted in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_files_beyond_measure_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission_checks, "MAX_CERTIFICATE_BYTES", 8)
    assert "files.claim.yaml: found more than 0 MiB" in opcert("verify", folder).stdout


def test_files_beyond_number_are_not_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (submission, submission_checks):
        monkeypatch.setattr(module, "MAX_FILES", 2)
    assert "holds 2 files or more; no others were looked at" in opcert("verify", folder).stdout


# What the command leaves of a run that was finished.
REPORTED = {"certificate.json", "report.html", "junit.xml", "operators"}


def test_the_command_hands_in_the_very_files_that_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(f"# mine\n{GIVEN['claim.yaml']}")
    out = tmp_path / "out"
    result = opcert("certify", *CASES, "--claim", tmp_path / "mine.yaml", "--out", out)
    assert result.exit_code == 0
    assert {each.name for each in out.iterdir()} == {"claim.yaml", *REPORTED}
    assert (out / "claim.yaml").read_bytes() == (tmp_path / "mine.yaml").read_bytes()
    assert opcert("verify", out).exit_code == 0


def test_a_former_submission_is_replaced_with_all_its_files(folder: Path) -> None:
    assert opcert("certify", *CASES, "--out", folder).exit_code == 0
    assert {each.name for each in folder.iterdir()} == REPORTED


def test_nested_files_are_written_named_and_removed_again(tmp_path: Path) -> None:
    target = submission_path(tmp_path, None)
    stated = write_submission(handed_in.certificate(), target, {"a/b/c.html": b"x", "d.xml": b"y"})
    assert list(stated.files) == ["a/b/c.html", "d.xml"]
    assert read_certificate(target) == stated
    assert submission_path(tmp_path, None) == target
    write_submission(stated, target, {"a/e.html": b"x"})
    found = [each.relative_to(tmp_path).as_posix() for each in sorted(tmp_path.rglob("*"))]
    assert found == ["a", "a/e.html", "certificate.json"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            replaced("thesis.txt", "x"),
            "contains thesis.txt, not part of a submission that opcert wrote",
        ),
        (
            replaced("claim.yaml", "x"),
            "contains claim.yaml, not part of a submission that opcert wrote",
        ),
        (linked("waivers.yaml", "/etc/hosts"), "contains waivers.yaml, not part of a submission"),
        (linked("linked", "/"), "contains linked, not part of a submission"),
    ],
)
def test_what_is_no_former_submission_is_left_alone(
    folder: Path, change: Callable[[Path], object], said: str
) -> None:
    change(folder)
    before = {each: each.lstat().st_mtime_ns for each in folder.iterdir()}
    result = opcert("certify", *CASES, "--out", folder)
    assert result.exit_code == 2
    assert said in result.stderr
    assert {each: each.lstat().st_mtime_ns for each in folder.iterdir()} == before


def test_what_names_files_outside_takes_none_of_them_away(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    (tmp_path / "out").mkdir()
    former = {**handed_in.certificate().content(), "files": {"../mine": "0", "/etc/hosts": "0"}}
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(former))
    target = submission_path(tmp_path / "out", None)
    write_submission(handed_in.certificate(), target, {})
    assert (tmp_path / "mine").read_text() == "x"


@pytest.mark.parametrize("text", ['{"files": {"mine": "0"}}', "my own", "[]"])
def test_something_else_of_its_name_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "certificate.json").write_text(text)
    result = opcert("certify", *CASES, "--out", tmp_path)
    assert result.exit_code == 2
    assert "contains certificate.json, not part of a submission" in result.stderr
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
        ("certificate.json", text)
    ]


def test_a_folder_that_cannot_be_written_keeps_the_former_submission(folder: Path) -> None:
    before = contents(folder)
    with pytest.raises(OpcertError, match="cannot be written"):
        write_submission(
            handed_in.certificate(), folder / "certificate.json", {"claim.yaml/x": b"", "a": b""}
        )
    assert contents(folder) == before
