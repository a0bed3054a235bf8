"""Laws: when they apply, which calls they make, and what they compare."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opcert.arrays.calls import Call
from opcert.arrays.tensor_functions import filled
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import Laws, check_laws, make_vectors
from opcert.errors import ExpressionError, SpecError
from opcert.specification.files import find_spec_files, load_references, read_spec, read_specs_in
from opcert.suite.spec_check import check_specs
from tests.small_spec import spec

pytestmark = pytest.mark.usefixtures("few_calls")

LAW = """laws:
  - id: whole
    clause: Outputs
    text: All rows of the rows taken are the rows taken.
    when: count > 0
    calls:
      again:
        inputs: {data: "outputs[0]"}
        attributes: {count: count}
    holds: same(again[0], outputs[0])
examples:
"""


def with_law(folder: Path, *changes: tuple[str, str]) -> Path:
    text = LAW
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return spec(folder, ("examples:\n", text))


def mistakes(path: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        check_specs([path])
    lines = path.read_text().splitlines()
    return [f"{lines[each.line - 1].strip()} | {each.text}" for each in caught.value.mistakes]


def test_a_law_that_holds_is_accepted(tmp_path: Path) -> None:
    assert check_specs([with_law(tmp_path)])


def test_a_law_is_checked_where_it_applies(tmp_path: Path) -> None:
    laws = Laws(read_spec(with_law(tmp_path)), {})
    inputs, call = {"data": np.arange(3, dtype=np.int8)}, Call({"data": filled("i8", (3,))}, {})
    assert laws.check(0, replace(call, attributes={"count": 2}), inputs, [inputs["data"][:2]])
    assert not laws.check(0, replace(call, attributes={"count": 0}), inputs, [inputs["data"][:0]])


def test_a_law_makes_its_further_calls(tmp_path: Path) -> None:
    fewer = ("attributes: {count: count}", "attributes: {count: count - 1}")
    shape = ("same(again[0], outputs[0])", "again[0].shape + outputs[0].shape == (1, 2)")
    laws = Laws(read_spec(with_law(tmp_path, fewer, shape)), {})
    inputs, call = {"data": np.arange(3, dtype=np.int8)}, Call({"data": filled("i8", (3,))}, {})
    assert laws.check(0, replace(call, attributes={"count": 2}), inputs, [inputs["data"][:2]])


def test_outputs_that_contradict_a_law_are_an_error(tmp_path: Path) -> None:
    laws = Laws(read_spec(with_law(tmp_path, ("again[0], outputs", "data, outputs"))), {})
    call = Call({"data": filled("i8", (3,))}, {"count": 3})
    inputs = {"data": np.arange(3, dtype=np.int8)}
    laws.check(0, call, inputs, [inputs["data"]])
    with pytest.raises(ExpressionError, match="does not hold for the reference"):
        laws.check(0, call, inputs, [np.zeros(3, np.int8)])


def test_a_law_can_call_another_operator(tmp_path: Path) -> None:
    slices = {name: f"{name}: \"vector('i64', [{value}])\"" for name, value in
              {"start": 0, "stop": "count", "step": 1}.items()}  # fmt: skip
    call = (
        f"operator: openvino/Slice-8\n        inputs: {{data: data, {', '.join(slices.values())}}}"
    )
    path = with_law(
        tmp_path,
        ('inputs: {data: "outputs[0]"}\n        attributes: {count: count}', call),
    )
    assert check_specs([path])
    unknown = with_law(tmp_path, ("inputs: {data", "operator: a/B\n        inputs: {data"))
    assert mistakes(unknown)[0].startswith(
        "operator: a/B | unknown operator 'a/B'; expected one of "
    )


@pytest.mark.parametrize(
    ("change", "place", "text"),
    [
        (("count > 0", "count > 9"), "- id: whole", "the law 'whole' applies to no case"),
        (("count > 0", "count"), "when: count", "'count' is "),
        (("same(again[0], outputs[0])", "len(again)"), "holds: len(again)", "'len(again)' is 1"),
        (
            ("same(again[0], outputs[0])", "same(again[0], data)"),
            "holds: same(again[0], data)",
            "the law 'whole' does not",
        ),
        (('"outputs[0]"', "count"), "inputs: {data: count}", "'count' is "),
        (
            ("count: count", "count: count + 1"),
            "again:",
            "the reference rejects a valid call: RuleBroken",
        ),
        (
            ('"outputs[0]"', '"outputs[1]"'),
            'inputs: {data: "outputs[1]"}',
            "index out of range in 'outputs[1]' with outputs=[",
        ),
        (
            ('"outputs[0]"', '"concatenated(outputs, 9)"'),
            'inputs: {data: "concatenated(outputs, 9)"}',
            "index out of range in 'concatenated(outputs, 9)' with outputs=[",
        ),
    ],
)
def test_each_mistake_in_a_law_is_reported_at_its_place(
    tmp_path: Path, change: tuple[str, str], place: str, text: str
) -> None:
    (mistake,) = mistakes(with_law(tmp_path, change))
    assert mistake.startswith(f"{place} | {text}")


def test_golden_outputs_that_contradict_a_law_are_an_error(tmp_path: Path) -> None:
    file = read_spec(with_law(tmp_path, ("again[0], outputs", "data, outputs")))
    vectors = make_vectors(file, generate_cases(file, "core", 0))
    with pytest.raises(SpecError, match="does not hold"):
        check_laws(file, vectors, {})


def test_every_shipped_spec_has_laws() -> None:
    references = load_references(find_spec_files(None))
    for file in read_specs_in(None):
        # The formulas of computed elements state more than a law could.
        is_computed = any(output.computed for output in file.spec.outputs)
        assert is_computed or len(file.spec.laws) > 1
        assert all(
            call.operator is None or call.operator in references
            for law in file.spec.laws
            for call in law.calls.values()
        )
