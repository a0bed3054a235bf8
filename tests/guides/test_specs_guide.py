"""The guide to specs: its tutorial, run step by step, and its tables, compared with the code."""

import contextlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from opcert.roles import ROLES
from opcert.roles.argument import Attribute, Input
from opcert.roles.role import Role
from opcert.specification.expressions import WrittenTensor
from opcert.specification.model import (
    Ambiguity,
    Erratum,
    Example,
    Law,
    Output,
    Rule,
    Spec,
)
from opcert.specification.role_rules import derived_requirements
from tests.command_line import opcert_program
from tests.guides.guides import ROOT, Block, Guide, blocks_of
from tests.roles.made_up import HEAD, write_spec
from tests.shipped import SPECS, spec

GUIDE = Guide(ROOT / "specs" / "README.md")
EDITS = (ROOT / "tests" / "bad_specs" / "edits.txt").read_text(encoding="utf-8")
SPEC = "my_specs/Chunk-1.yaml"
MODELS: dict[str, tuple[type[BaseModel], ...]] = {
    "Keys of a spec": (Spec,),
    "Inputs and attributes": (Input, Attribute),
    "Outputs": (Output,),
    "Rules": (Rule,),
    "Ambiguities": (Ambiguity,),
    "Errata": (Erratum,),
    "Examples": (Example,),
    "Laws": (Law,),
}
SECTION = re.compile(r"^(\w+):(?:.*\n(?:[ \n].*\n?)*)", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Return the top-level sections of a YAML text by key."""
    return {match[1]: match[0] for match in SECTION.finditer(text)}


def tutorial() -> list[Block]:
    """Return the blocks of the tutorial."""
    return blocks_of(GUIDE.text.partition("\n## Tutorial\n")[2].partition("\n## Reference\n")[0])


def yaml_block(title: str, key: str) -> str:
    """Return the block below a heading that begins with a key."""
    texts = (block.text for block in blocks_of(GUIDE.section(title)))
    (text,) = (text for text in texts if text.startswith(f"{key}:\n"))
    return text


def normalized(line: str) -> str:
    """Return a line of output without numbers and digests, and without the widths of columns."""
    return re.sub(r"\b[0-9a-f]{8}\b|\d+| {2,}|[─━]+", "#", line.rstrip())


def assert_printed(expected: list[str], printed: list[str]) -> None:
    """Require the lines of a guide in what is printed; the line … means any lines."""
    pattern = "\n".join(".*" if line == "…" else re.escape(normalized(line)) for line in expected)
    text = "\n".join(map(normalized, printed))
    assert re.fullmatch(pattern, text, re.DOTALL), text


def output_of(command: str) -> list[str]:
    """Run opcert as a program, which imports the reference anew, and return what it prints."""
    _, stdout, stderr = opcert_program(*shlex.split(command)[1:])
    return f"{stderr}{stdout}".splitlines()


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "my_specs").mkdir()
    spec: dict[str, str] = {}
    commands = 0
    with contextlib.chdir(tmp_path):
        for block in tutorial():
            file, text = block.file, block.text
            if file == SPEC and spec:
                assert sections(text) == spec, "the whole spec is not what the steps make"
            if file:
                Path(file).write_text(text)
                spec = sections(text) if file == SPEC else spec
            elif block.language == "yaml":
                spec |= sections(text)
                Path(SPEC).write_text("".join(spec.values()))
            elif text.startswith("$ "):
                prompt, *expected = text.splitlines()
                printed = output_of(prompt.removeprefix("$ "))
                assert_printed(expected, printed)
                commands += 1
    assert commands == 4


def table(text: str, header: str) -> dict[str, str]:
    """Return the second column of the table with `header` by the name in its first."""
    rows = text.partition(f"| {header} |")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", rows, re.MULTILINE))


@pytest.mark.parametrize("title", MODELS)
def test_every_key_of_a_spec_is_listed(title: str) -> None:
    fields = {
        field.alias or name for model in MODELS[title] for name, field in model.model_fields.items()
    }
    # That an argument has a role is what makes it more than an input or an attribute.
    role = {"role"} if title == "Inputs and attributes" else set()
    assert table(GUIDE.section(title), "key | meaning").keys() == fields | role


def test_the_values_of_every_key_of_a_role_are_listed() -> None:
    listed = table(GUIDE.section("Roles"), "key | values")
    for role in ROLES.values():
        for name, field in role.model_fields.items():
            if name in Role.model_fields:
                continue
            annotation = str(field.annotation)
            values = re.findall(r"'(\w+)'", annotation) if "Literal" in annotation else []
            if field.annotation is bool:
                values = ["true", "false"]
            for value in values:
                assert f"`{value}`" in listed[name], name


def test_the_requirements_of_roles_are_listed() -> None:
    listed = table(GUIDE.section("Roles"), "role | requirements that follow")
    assert listed.keys() == ROLES.keys() - {"flag", "real"}
    for name in SPECS:
        arguments = {argument.name: argument for argument in spec(name).spec.bound_roles}
        for key in derived_requirements(spec(name).spec):
            argument, _, requirement = key.partition(".")
            if requirement:
                word = re.sub(r"^limit-.*", "limit-…", requirement)
                assert f"`{word}`" in listed[arguments[argument].role], key


def patterns() -> Iterator[str]:
    """Yield the messages of the guide, with … for any text."""
    text = GUIDE.text.partition("\n## Messages\n")[2]
    for row in re.findall(r"^\| (`.*?) \| ", text, re.MULTILINE):
        yield from re.findall(r"`([^`]+)`", row)


def test_every_message_of_a_mistake_is_explained() -> None:
    regexes = [".*".join(map(re.escape, pattern.split("…"))) for pattern in patterns()]
    messages = {line.removeprefix("! ") for line in EDITS.splitlines() if line.startswith("! ")}
    assert len(messages) > 100
    missing = [m for m in messages if not any(re.fullmatch(regex, m) for regex in regexes)]
    assert not missing


def test_every_explained_message_is_one_of_opcert() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "generator").rglob("*.py")
    )
    # Strings that go on in another line.
    sources = re.sub(r'"\s+f?"', "", sources)
    for pattern in patterns():
        longest = max(re.split(r"…|'…'", pattern), key=len).strip(" ':;,")
        assert longest in sources or longest in EDITS, pattern


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The spec of the tutorial as its end shows it, with its reference."""
    for block in tutorial():
        if block.file:
            (tmp_path / Path(block.file).name).write_text(block.text)
    return tmp_path / Path(SPEC).name


@pytest.mark.slow
def test_the_formula_finds_the_fault_that_the_tutorial_suggests(example: Path) -> None:
    reference = example.with_name("chunk.py")
    text = reference.read_text()
    assert text.count("axis)]\n") == 1
    reference.write_text(text.replace("axis)]\n", "axis)][::-1]\n"))
    printed = output_of(f"opcert check {example}")
    assert any("output 0: at [0" in line and "the formula gives" in line for line in printed)
    assert any("chunk-1/example-1: output 0 of the example is" in line for line in printed)


@pytest.mark.slow
def test_the_law_of_the_guide_holds_for_the_operator_of_the_tutorial(example: Path) -> None:
    with example.open("a") as file:
        file.write(yaml_block("Laws", "laws"))
    assert output_of(f"opcert check --no-strength {example}")[-1] == "9 rules, each exercised"


@pytest.mark.slow
def test_named_values_can_shorten_the_spec_of_the_tutorial(example: Path) -> None:
    names = yaml_block("Expressions", "names")
    text = example.read_text()
    assert text.count("data.shape[axis] // parts") == 2
    text = text.replace("data.shape[axis] // parts", "size").replace(
        "inputs:\n", f"{names}inputs:\n", 1
    )
    example.write_text(text)
    assert output_of(f"opcert check --no-strength {example}")[-1] == "9 rules, each exercised"


JOIN_RULES = """\
rules:
  - {id: same-type, from: rows.same-type, clause: Rows}
  - {id: same-rank, from: rows.same-rank, clause: Rows}
  - {id: axis-range, from: axis.range, prerequisites: [same-rank], clause: Axis}
  - {id: off-axis, from: rows.off-axis, clause: Rows}
  - {id: in-order, clause: Joined, text: The tensors are in order., holds: len(outputs) == 1}
"""
JOIN = """\
import numpy as np

from opcert.reference import require


def up(rows, axis):
    require(len({row.dtype for row in rows}) == 1, "up-1/same-type", "types differ")
    require(len({row.ndim for row in rows}) == 1, "up-1/same-rank", "ranks differ")
    require(0 <= axis < rows[0].ndim, "up-1/axis-range", f"axis {axis}")
    extents = {row.shape[:axis] + row.shape[axis + 1 :] for row in rows}
    require(len(extents) == 1, "up-1/off-axis", "extents differ")
    return [np.concatenate(rows, axis)]
"""


@pytest.mark.slow
def test_the_attributes_and_the_variadic_operator_of_the_guide_are_valid(tmp_path: Path) -> None:
    joined, flags = (each.text for each in blocks_of(GUIDE.section("Inputs and attributes")))
    path = write_spec(tmp_path, "up", f"{HEAD}types: {{T: [i8, f32]}}\n{joined}{JOIN_RULES}", JOIN)
    assert output_of(f"opcert check --no-strength {path}")[-1] == "5 rules, each exercised"
    flag, words = yaml.safe_load(flags)["attributes"]
    assert ROLES["flag"].model_validate(flag).default is False
    assert Attribute.model_validate_json(json.dumps(words)).one_of == ("left", "right")


def test_the_violation_of_the_guide_is_one_of_a_spec() -> None:
    expected = yaml_block("Negative cases", "violations").partition("\n")[2]
    assert expected.strip() in SPECS["Gather-8"].read_text(encoding="utf-8")


def test_the_tensors_of_the_guide_are_valid() -> None:
    texts = re.findall(r"`(\w+\[[\d, ]+\][^`]*)`", GUIDE.section("Examples"))
    assert len(texts) == 5
    for text in texts:
        TypeAdapter(WrittenTensor).validate_python(text)
