"""YAML files are read as plain data with positions, by the core schema of YAML 1.2."""

from math import inf, isnan
from pathlib import Path

import pytest

from opcert.errors import Mistake, SpecError
from opcert.yaml_files import KEY_STEP, YamlPath, YamlSource

TEXT = "name: x\nparts:\n  [0, {size: 3}]\nempty:\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "spec.yaml"


def read(file: Path, text: str) -> YamlSource:
    file.write_text(text, encoding="utf-8")
    return YamlSource(file)


def mistakes_in(file: Path, text: str | bytes) -> list[tuple[int, int, str]]:
    """Return line, column and text of each mistake that keeps `text` from being read."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(SpecError) as caught:
        YamlSource(file)
    return [(each.line, each.column, each.text) for each in caught.value.mistakes]


@pytest.mark.parametrize("text", ["no", "yes", "on", "off", "y", "1_0", "1:30", "017x", "2001-1-1"])
def test_what_only_yaml_1_1_converts_stays_text(file: Path, text: str) -> None:
    assert read(file, f"key: {text}").data == {"key": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("~", None), ("null", None), ("", None), ("true", True), ("FALSE", False)],
        *[("12", 12), ("-3", -3), ("+4", 4), ("017", 17), ("0o17", 15), ("0x1F", 31)],
        *[("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), (".inf", inf), ("-.INF", -inf)],
        *[("'12'", "12"), ('"true"', "true"), ("|\n  12", "12"), ("'null'", "null")],
    ],
)
def test_scalars_are_those_of_the_core_schema(file: Path, text: str, value: object) -> None:
    data = read(file, f"key: {text}").data
    assert isinstance(data, dict)
    assert (data["key"], type(data["key"])) == (value, type(value))


def test_not_a_number_is_a_float(file: Path) -> None:
    data = read(file, "- .nan").data
    assert isinstance(data, list)
    assert isinstance(data[0], float)
    assert isnan(data[0])


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000, "9" * 5000 + ".5"])
def test_a_number_of_too_many_digits_stays_text(file: Path, digits: str) -> None:
    assert read(file, f"- {digits}").data == [digits]


@pytest.mark.parametrize("text", ["", "\n\n", "# only this\n"])
def test_an_empty_file_has_no_data(file: Path, text: str) -> None:
    assert read(file, text).data is None


def test_a_byte_order_mark_and_windows_line_ends_are_ignored(file: Path) -> None:
    assert read(file, "\ufeffa: 1\r\nb: 2\r\n").data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("name",), (1, 7)),
        (("name", KEY_STEP), (1, 1)),
        (("parts",), (2, 1)),
        (("parts", 1), (3, 7)),
        (("parts", 1, "size"), (3, 14)),
        (("parts", 1, "size", KEY_STEP), (3, 8)),
        (("empty",), (4, 1)),
        ((), (1, 1)),
    ],
)
def test_the_position_of_a_part_is_that_of_its_scalar_or_its_key(
    file: Path, path: YamlPath, place: tuple[int, int]
) -> None:
    mistake = read(file, TEXT).mistake(path, "wrong")
    assert (mistake.line, mistake.column) == place


@pytest.mark.parametrize(
    ("path", "known"),
    [
        (("parts", 1, "rank", 0), ("parts", 1)),
        # The step of a union.
        (("parts", "branch", 1, "size"), ("parts", 1, "size")),
    ],
)
def test_steps_that_the_file_does_not_have_are_left_out(
    file: Path, path: YamlPath, known: YamlPath
) -> None:
    assert read(file, TEXT).known_steps(path) == known


def test_the_text_of_a_mistake_is_one_line(file: Path) -> None:
    assert read(file, TEXT).mistake((), "two\n  lines").text == "two lines"


def test_the_text_of_a_duplicate_key_is_one_line(file: Path) -> None:
    file.write_text('"a\\nb": 1\n"a\\nb": 2\n')
    (mistake,) = YamlSource(file).mistakes
    assert len(str(mistake).splitlines()) == 1


def test_a_duplicate_key_does_not_keep_the_rest_from_being_read(file: Path) -> None:
    source = read(file, "a: 1\nb: 2\na: 3\n")
    text = "duplicate key 'a', first on line 1; keep one of them"
    assert source.mistakes == [Mistake(str(file), 3, 1, text)]
    assert source.data == {"a": 1, "b": 2}


@pytest.mark.parametrize("text", ["{a: x, b}", "{a: x, b, c}", "{b, a: x}", "{b: , a: x}"])
def test_a_key_of_a_flow_mapping_needs_a_value(file: Path, text: str) -> None:
    source = read(file, text)
    (mistake,) = source.mistakes
    assert mistake.text.startswith("key 'b' has no value; ")
    assert ("b",) in source.reported


@pytest.mark.parametrize("text", ["{a: '', b: x}", "a:\nb: x\n", "{a: null, b: x}"])
def test_an_empty_text_null_or_a_block_without_a_value_is_no_mistake(file: Path, text: str) -> None:
    assert read(file, text).mistakes == []


@pytest.mark.parametrize("text", ["? [a]\n: 1\n", "? {a: b}\n: 1\n", "'': 1\n"])
def test_a_key_that_is_not_text_is_a_mistake(file: Path, text: str) -> None:
    (mistake,) = read(file, text).mistakes
    assert mistake.text == "a key that is not plain text; expected a name"


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x\n", "a: &x 1\nb: *y\n", "a: &x\n- 2\nb: *x\n"])
def test_an_alias_is_a_mistake(file: Path, text: str) -> None:
    line = text.count("\n")
    assert mistakes_in(file, text) == [(line, 4, "an alias; write the value out instead")]


def test_a_recursive_alias_is_a_mistake(file: Path) -> None:
    found = mistakes_in(file, "a: &x [*x]\n")
    assert found == [(1, 8, "an alias; write the value out instead")]


def test_all_aliases_and_tags_are_reported(file: Path) -> None:
    found = mistakes_in(file, "a: &x 1\nb: *x\nc: !!int '3'\nd: *x\n")
    assert [(line, column) for line, column, _ in found] == [(2, 4), (3, 4), (4, 4)]


def test_a_tag_of_a_python_object_is_a_mistake_and_creates_nothing(file: Path) -> None:
    ((line, column, text),) = mistakes_in(file, "a: !!python/object/apply:os.getcwd []\n")
    assert (line, column) == (1, 4)
    assert text.startswith("the tag tag:yaml.org,2002:python/object/apply:os.getcwd;")


@pytest.mark.parametrize(
    ("depth", "column", "text"),
    [
        (51, 51, "nested more than 50 levels deep"),
        # PyYAML, which looks ahead, has a limit of its own.
        (100_000, 1001, "not YAML: while increasing flow level, exceeded maximum nesting depth"),
    ],
)
def test_nesting_that_is_too_deep_is_a_mistake(
    file: Path, depth: int, column: int, text: str
) -> None:
    assert mistakes_in(file, "[" * depth + "]" * depth) == [(1, column, text)]


def test_the_greatest_allowed_depth_is_read(file: Path) -> None:
    assert read(file, "[" * 50 + "]" * 50).mistakes == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *[("a:\n\tb: 1\n", 2), ("a: [1\nb: 2\n", 2), ("a: 1\n  b: 2\n", 2), ("a: 'x\n", 2)],
        *[("a: 1\n---\nb: 2\n", 2), ("a: @x\n", 1), ("a: 1\n%b\n", 2), ("a: \x00\n", 1)],
    ],
)
def test_invalid_yaml_is_reported_at_its_line(file: Path, text: str, line: int) -> None:
    ((found_line, _, message),) = mistakes_in(file, text)
    assert message.startswith("not YAML: ")
    assert "\n" not in message
    assert found_line == line


def test_invalid_utf_8_is_reported_at_its_byte(file: Path) -> None:
    found = mistakes_in(file, "# é\na: ".encode() + b"\xff\n")
    assert found == [(2, 4, "not UTF-8: found the byte 0xff")]
