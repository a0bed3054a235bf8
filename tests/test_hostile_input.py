"""Hostile input: names that are code, shapes of no array, characters that no file may have."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import ValidationError

from opcert.backends.lookup import load_code
from opcert.commands.options import print_error
from opcert.errors import OpcertError, SpecError, visible_text
from opcert.programs import CallText, InputText, write_program
from opcert.report import files
from opcert.report.files import junit_xml
from opcert.run.comparison import Excerpt
from opcert.specification.files import read_spec
from opcert.suite import emit
from opcert.system import read_limited
from opcert.verdicts.reproduction import Reproduction, SerializedArray
from opcert.verdicts.verdict import Verdict
from tests.made_certificate import OPERATOR, certificate
from tests.small_spec import TAKE, spec

CODE = "open('x', 'w')"
# Names that end a literal or a comment, and go on with code.
NAMES = [
    *[
        f"a\n{CODE}\n",
        f"a\r{CODE}\r",
        f'a": 1}}; {CODE}; y = {{"',
        f"a\\\"; {CODE}; '",
        f"a'\n{CODE}",
    ],
    *[f'a[0]": 1, {CODE}: "', f"a\x0c{CODE}", f'"""\n{CODE}\n"""', "a\\", "\u202e\u2028\x1b"],
]
# What XML and HTML forbid, and what changes the direction of a text.
HIDDEN = (
    "\0\1\x0b\x1b\r\x7f\x85\x9b\xad\u061c\u200e\u2028\u202e\u2066\u2069\ufdd0\ufffe\uffff\U0010ffff"
)


def assert_harmless(program: str) -> None:
    """Check that a program parses, calls no `open`, and hides no character."""
    calls = [node.func for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    assert not any(isinstance(call, ast.Name) and call.id == "open" for call in calls)
    assert all(line.isprintable() for line in program.split("\n"))


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_of_a_call_becomes_code_of_its_program(name: str) -> None:
    inputs = {name: InputText("np.zeros(1)", ("f32", (1,), "c"))}
    call = CallText(name, name, inputs, {name: name, "other": [{name: 1}]}, ["np.zeros(1)"])
    refilled = replace(call, inputs={name: InputText("np.ones(1)", ("f32", (1,), "c"))})
    for backend in (None, "backend = None", load_code(name, {name: name})):
        assert_harmless(write_program([call, refilled], backend, [name], name))
        assert_harmless(write_program([replace(call, expected=None)], backend, [name], name))


def test_an_option_that_is_no_name_of_python_is_passed_all_the_same() -> None:
    program = load_code("b", {"a b": 1, "class": 2})
    assert program.endswith("\nbackend = load('b', **{'a b': 1, 'class': 2})")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_text_of_a_spec_becomes_code_of_its_tests(name: str) -> None:
    example = SimpleNamespace(id="e", clause=name, text=name, inputs={}, attributes={}, outputs=[])
    made = SimpleNamespace(version=1, operator="a/B", examples=[example], full_id=lambda _: "b/e")
    spec_file = SimpleNamespace(name=name)
    assert_harmless(emit._render("test_operator.py.j2", spec_file=spec_file, spec=made).decode())


SHAPES: list[list[int]] = [[10**30], [10**30, 0], [1] * 100, [2] * 100_000]


@pytest.mark.parametrize("shape", SHAPES, ids=["10^30", "10^30 x 0", "100", "100000"])
def test_a_certificate_with_a_shape_of_no_array_is_refused(shape: list[int]) -> None:
    part = {"output": 0, "type": "i8", "start": 0, "expected": "01", "actual": "02"}
    with pytest.raises(ValidationError, match="up to 32 extents"):
        Excerpt.model_validate_json(_json(**part, shape=shape))
    with pytest.raises(ValidationError, match="up to 32 extents"):
        SerializedArray.model_validate_json(_json(type="i8", shape=shape, elements=""))


def _json(**fields: Any) -> str:
    return json.dumps(fields)


@pytest.mark.parametrize("part", ["low", "high", "flags"])
def test_an_allowance_has_as_many_parts_as_its_array_has_elements(part: str) -> None:
    right = {"claimed": "standard", "low": "00" * 8, "high": "00" * 8, "flags": "00" * 2}
    array = {"type": "f32", "shape": [2], "elements": "00" * 8}
    SerializedArray.model_validate_json(_json(**array, allowance=right))
    with pytest.raises(ValidationError, match="as many elements as the shape has"):
        SerializedArray.model_validate_json(_json(**array, allowance={**right, part: "00"}))


def test_an_excerpt_has_few_elements() -> None:
    digits = "01" * 33
    text = _json(output=0, type="i8", shape=[99], start=0, expected=digits, actual=digits)
    with pytest.raises(ValidationError, match="an excerpt whose elements"):
        Excerpt.model_validate_json(text)


def test_junit_is_valid_and_has_no_hidden_character_whatever_the_names_are() -> None:
    text = f"<b>{HIDDEN}]]>&"
    verdict = Verdict(text, OPERATOR, "fail", "value", "outputs", (), text)
    made = certificate([verdict, replace(verdict, case="a", status="crash", operator=text)])
    made = made.replace(backend=made.backend.model_copy(update={"version": text}))
    for part in ElementTree.fromstring(junit_xml(made)).iter():
        for value in (*part.attrib.values(), part.text or ""):
            assert visible_text(value) == value
    assert b"\\u202e" in junit_xml(made)


@pytest.mark.parametrize("around", ["", "plain ", "\n\té\u00a0"])
def test_each_hidden_character_is_escaped_and_no_other(around: str) -> None:
    hidden = (
        "\x00\x0b\r\x1b\x7f\x85\xad\u200b\u2028\u202e\u2066\ud800\ufeff\ufffe\U000e0001\U0010ffff"
    )
    for character in hidden:
        text = visible_text(around + character + around)
        assert text == around + ascii(character)[1:-1] + around
    assert visible_text(around) == around


def test_a_page_has_no_hidden_character_and_marks_each() -> None:
    page = files._environment().from_string("{{ text }}").render(text=HIDDEN)
    assert visible_text(page) == page
    assert "\\u202e" in page


def test_json_within_a_page_has_escapes_that_a_reader_sees() -> None:
    page = (
        files._environment()
        .from_string("{{ data | tojson }}")
        .render(data={"a": f"\u202eb{HIDDEN}"})
    )
    assert visible_text(page) == page
    assert '"a":"\\\\u202eb' in page


def test_a_reproduction_has_a_limited_number_of_calls() -> None:
    calls = [{"case": "a/b"}] * 100_000
    text = json.dumps({"reproduced": "alone", "calls": calls, "kind": "value", "reduced": []})
    with pytest.raises(ValidationError, match="at most 10000 items"):
        Reproduction.model_validate_json(text)


@pytest.mark.parametrize("limit", [1 << 30, 1 << 50])
def test_a_file_is_read_without_room_for_the_largest_one(limit: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    assert read_limited(tmp_path / "file", limit) == b"content"


def test_a_message_has_a_limited_length(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(OpcertError("x" * 10**6))
    assert len(capsys.readouterr().err) < 2000


def test_of_thousands_of_mistakes_the_first_are_reported(tmp_path: Path) -> None:
    keys = "".join(f"unknown_{i}: 1\n" for i in range(20_000))
    path = spec(tmp_path)
    path.write_text(TAKE + keys)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    assert len(caught.value.mistakes) <= 200
