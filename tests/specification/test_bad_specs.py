"""Each edit in bad_specs/edits.txt makes a small spec wrong, and `check` points at each mistake.

An entry begins with `== name`, or with `== name of other` where it edits what another entry makes.
The lines after it begin with

- `! ` for an expected message, in the order in which `check` writes them,
- `-` for a line that goes, `+` for one that comes, and a blank for one that stays.

An `@` in a line that comes or stays is no part of the spec: it marks where a message points to, one
for each message. An empty line separates edits; what an edit replaces has to occur exactly once.
"""

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.command_line import opcert, opcert_program
from tests.small_spec import FOLDER, TAKE

Entry = tuple[str, list[str], list[list[str]]]


@cache
def entries() -> dict[str, Entry]:
    """Return by name the entry that each edits, its messages and its edits."""
    table: dict[str, Entry] = {}
    for entry in (FOLDER / "edits.txt").read_text().removeprefix("== ").split("\n== "):
        title, *lines = entry.rstrip("\n").split("\n")
        name, _, other = title.partition(" of ")
        assert name not in table, f"two entries {name}"
        messages = [line.removeprefix("! ") for line in lines if line.startswith("! ")]
        edits = "\n".join(lines[len(messages) :]).split("\n\n")
        table[name] = other, messages, [edit.split("\n") for edit in edits]
    return table


def marked(name: str) -> str:
    """Return the spec of an entry, or the small spec, with its marks."""
    if not name:
        return TAKE
    other, _, edits = entries()[name]
    text = "\n" + marked(other)
    for edit in edits:
        old, new = ("".join(f"{x[1:]}\n" for x in edit if x[0] in kinds) for kinds in (" -", " +"))
        old = "\n" + old.replace("@", "")
        assert text.count(old) == 1, f"{name}: {old}"
        text = text.replace(old, "\n" + new)
    return text.removeprefix("\n")


def told(name: str, messages: Sequence[str], text: str) -> list[str]:
    """Return the lines that are expected, one for each mark."""
    lines: list[str] = []
    for mark in re.finditer("@", text):
        before = text[: mark.start()].replace("@", "").split("\n")
        place = f"{name}.yaml:{len(before)}:{len(before[-1]) + 1}"
        lines.append(f"{place}: {messages[len(lines)]}")
    assert len(lines) == len(messages), f"{name}: {len(lines)} places, {len(messages)} messages"
    return lines


def made(name: str) -> list[str]:
    """Write the spec of an entry; return the lines that are expected."""
    text = marked(name)
    Path(f"{name}.yaml").write_text(text.replace("@", ""))
    return told(name, entries()[name][1], text)


def check(*names: str) -> list[str]:
    """Return what `opcert check` says of specs as it exits with 2."""
    result = opcert("check", *(f"{name}.yaml" for name in names))
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()


@pytest.fixture(autouse=True)
def _beside_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in FOLDER.glob("*.py"):
        shutil.copy(module, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [name for name, entry in entries().items() if entry[1]])
def test_each_mistake_is_told_once_where_it_stands(name: str) -> None:
    expected = made(name)
    assert check(name) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "1:1: found null; expected a mapping"),
        (b"take-1\n", '1:1: found "take-1"; expected a mapping'),
        (
            b"- operator: example/Take-1\n- slug: take-1\n",
            '1:1: found [{"operator": "example/Take-1"}, {"slug": "take-1"}]; expected a mapping',
        ),
        (b"text: The r\xffws.\n", "1:12: not UTF-8: found the byte 0xff"),
        (
            b"types:\n\tT: [i8, f32]\n",
            "2:1: not YAML: while scanning for the next token, "
            "found character that cannot start any token",
        ),
    ],
    ids=["empty", "text", "list", "not-utf8", "tab"],
)
def test_a_file_that_is_no_spec_at_all_is_told(content: bytes, expected: str) -> None:
    Path("take.yaml").write_bytes(content)
    assert check("take") == [f"take.yaml:{expected}"]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("slug: take-2", "1:11: operator 'example/Take-1'"),
        ("operator: example/Take-2", "2:7: slug 'take-1'"),
    ],
    ids=["operator", "slug"],
)
def test_specs_that_claim_the_same_are_told(new: str, expected: str) -> None:
    key = new.partition(":")[0]
    Path("first.yaml").write_text(TAKE)
    Path("second.yaml").write_text(re.sub(f"(?m)^{key}: .*", new, TAKE))
    text = "is also that of first.yaml; expected one spec for each"
    assert check("first", "second") == [f"second.yaml:{expected} {text}"]


def test_the_mistakes_of_all_files_are_told_in_the_order_of_their_places() -> None:
    names = ["several", "misspelt_key", "unknown_key"]
    expected = {name: made(name) for name in names}
    assert check(*names) == [line for name in sorted(names) for line in expected[name]]


def test_a_file_that_does_not_exist_is_told() -> None:
    assert check("nowhere") == ["nowhere.yaml:1:1: cannot be read: No such file or directory"]


def test_a_folder_in_the_place_of_a_file_is_told() -> None:
    Path("folder.yaml").mkdir()
    assert check("folder") == ["folder.yaml:1:1: cannot be read: a folder, not a file"]


@pytest.mark.parametrize("name", ["several", "reference_fails"])
def test_the_command_itself_says_it_without_a_traceback(name: str) -> None:
    expected = made(name)
    code, stdout, stderr = opcert_program("check", f"{name}.yaml")
    assert (code, stdout, stderr.splitlines()) == (2, "", expected)
