"""Each edit in bad_specs/edits.txt makes a small spec wrong, and `check` reports each mistake.

An entry begins with `== name`, or with `== name of other` where it edits what another entry makes.
The lines after it begin with

- `! ` for an expected message, in the order of `check`,
- `-` for a removed line, `+` for an added one, and a blank for one of context.

An `@` in an added or a context line is not part of the spec: it marks the position of a message,
one for each. An empty line separates edits. What an edit replaces must occur exactly once.
"""

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.command_line import opcert, opcert_program
from tests.small_spec import FOLDER, TAKE

pytestmark = pytest.mark.usefixtures("few_calls")
Entry = tuple[str, list[str], list[list[str]]]


@cache
def entries() -> dict[str, Entry]:
    """Return for each name the entry that it is based on, its messages, and its edits."""
    table: dict[str, Entry] = {}
    for entry in (FOLDER / "edits.txt").read_text().removeprefix("== ").split("\n== "):
        title, *lines = entry.rstrip("\n").split("\n")
        name, _, base = title.partition(" of ")
        assert name not in table, f"two entries {name}"
        messages = [line.removeprefix("! ") for line in lines if line.startswith("! ")]
        edits = "\n".join(lines[len(messages) :]).split("\n\n")
        table[name] = base, messages, [edit.split("\n") for edit in edits]
    return table


def marked_spec(name: str) -> str:
    """Return the spec of an entry, or the small spec, with the marks in it."""
    if not name:
        return TAKE
    base, _, edits = entries()[name]
    text = "\n" + marked_spec(base)
    for edit in edits:
        old, new = ("".join(f"{x[1:]}\n" for x in edit if x[0] in kinds) for kinds in (" -", " +"))
        old = "\n" + old.replace("@", "")
        assert text.count(old) == 1, f"{name}: {old}"
        text = text.replace(old, "\n" + new)
    return text.removeprefix("\n")


def expected_lines(name: str, messages: Sequence[str], text: str) -> list[str]:
    """Return the expected lines, one for each mark."""
    lines: list[str] = []
    for mark in re.finditer("@", text):
        before = text[: mark.start()].replace("@", "").split("\n")
        position = f"{name}.yaml:{len(before)}:{len(before[-1]) + 1}"
        lines.append(f"{position}: {messages[len(lines)]}")
    assert len(lines) == len(messages), f"{name}: {len(lines)} marks, {len(messages)} messages"
    return lines


def write_entry(name: str) -> list[str]:
    """Write the spec of an entry; return the expected lines."""
    text = marked_spec(name)
    Path(f"{name}.yaml").write_text(text.replace("@", ""))
    return expected_lines(name, entries()[name][1], text)


def check(*names: str) -> list[str]:
    """Return the lines of `opcert check`, which must exit with 2."""
    result = opcert("check", *(f"{name}.yaml" for name in names))
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()


@pytest.fixture(autouse=True)
def _with_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in FOLDER.glob("*.py"):
        shutil.copy(module, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [name for name, entry in entries().items() if entry[1]])
def test_each_mistake_is_reported_once_at_its_position(name: str) -> None:
    expected = write_entry(name)
    assert check(name) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "1:1: found nothing; expected a mapping"),
        (b"take-1\n", '1:1: found "take-1"; expected a mapping'),
        (
            b"- operator: example/Take-1\n- slug: take-1\n",
            '1:1: found [{"operator": "example/Take-1"}, {"slug": "take-1"}]; expected a mapping',
        ),
        (
            b"types:\n\tT: [i8, f32]\n",
            "2:1: not YAML: while scanning for the next token, "
            "found character that cannot start any token",
        ),
    ],
    ids=["empty", "text", "list", "tab"],
)
def test_a_file_that_is_no_spec_is_reported(content: bytes, expected: str) -> None:
    Path("take.yaml").write_bytes(content)
    assert check("take") == [f"take.yaml:{expected}"]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("slug: take-2", "1:11: duplicate operator 'example/Take-1'"),
        ("operator: example/Take-2", "2:7: duplicate slug 'take-1'"),
    ],
    ids=["operator", "slug"],
)
def test_specs_with_the_same_operator_or_slug_are_reported(new: str, expected: str) -> None:
    key = new.partition(":")[0]
    Path("first.yaml").write_text(TAKE)
    Path("second.yaml").write_text(re.sub(f"(?m)^{key}: .*", new, TAKE))
    text = "also in first.yaml; expected one spec for it"
    assert check("first", "second") == [f"second.yaml:{expected}, {text}"]


def test_the_mistakes_of_all_files_are_sorted_by_position() -> None:
    names = ["several", "misspelt_key", "unknown_key"]
    expected = {name: write_entry(name) for name in names}
    assert check(*names) == [line for name in sorted(names) for line in expected[name]]


def test_a_missing_file_is_reported() -> None:
    assert check("nowhere") == ["nowhere.yaml:1:1: cannot be read: No such file or directory"]


def test_a_folder_instead_of_a_file_is_reported() -> None:
    Path("folder.yaml").mkdir()
    assert check("folder") == ["folder.yaml:1:1: cannot be read: a folder, not a file"]


@pytest.mark.parametrize("name", ["several", "reference_fails"])
def test_the_command_reports_mistakes_without_a_traceback(name: str) -> None:
    expected = write_entry(name)
    code, stdout, stderr = opcert_program("check", f"{name}.yaml")
    assert (code, stdout, stderr.splitlines()) == (2, "", expected)
