"""Expressions: Python's syntax, and known names only."""

import builtins
import warnings

import pytest

from opcert.arrays.calls import Tensor
from opcert.cases.conditions import SpecExpression
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification.expressions import (
    EXPRESSION_FUNCTIONS,
    TENSOR_ATTRIBUTES,
    evaluate,
    evaluate_integer,
    evaluation_scope,
    parse_expression,
)
from tests.shipped import spec

DATA = Tensor("i8", (2, 3), (0, 1, 2, 3, 4, 5))
NAMES = {"data": DATA, "axis": -1, "mode": None}
KNOWN = {"data": TENSOR_ATTRIBUTES, "axis": (), "mode": ()}


def value_of(text: str) -> object:
    return evaluate(text, NAMES)


def is_true(text: str) -> bool:
    return SpecExpression(spec("Tanh-1").spec, text).holds(evaluation_scope(NAMES))


def mistakes_in(text: str) -> list[str]:
    return parse_expression(text).mistakes(KNOWN, EXPRESSION_FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("data.shape[wrap(axis, data.rank)]", 3), ("[2 * n for n in data.shape]", (4, 6))],
        *[("7 // 2 + 7 % 2 - 2**3", -4), ("mode is None and axis < 0 <= 1", True)],
        *[("[0, *data.shape]", (0, 2, 3)), ("sum(data.values[1:3])", 3), ("{'a': 1}['a']", 1)],
        *[("fits('i8', 128)", False), ("highest('u64')", 2**64 - 1), ("range(3)", range(3))],
        *[("max([], default=axis) / 2", -0.5)],
    ],
)
def test_an_expression_has_the_value_that_it_has_in_python(text: str, value: object) -> None:
    assert value_of(text) == value


def test_a_list_becomes_a_tuple() -> None:
    assert isinstance(value_of("[1, 2]"), tuple)


def test_a_text_is_parsed_once() -> None:
    assert parse_expression("axis + 1") is parse_expression("axis + 1")


def test_names_are_the_free_names() -> None:
    assert parse_expression("[n + axis for n in data.shape if fits(mode, n)]").names == {
        "axis",
        "data",
        "mode",
    }


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            " ",
            "1 +",
            "axis = 1",
            "import os",
            "a; b",
            "(1",
            "1)",
            "'x",
            "*data",
            "\0",
            "\ud800",
        ],
        *["(" * 300 + "1" + ")" * 300, "-" * 100_000 + "1", "+".join(["axis"] * 100_000)],
        *[r"'\d'", "1if axis else 2"],
    ],
    ids=ascii,
)
def test_invalid_syntax_is_an_error_without_a_warning(text: str) -> None:
    with warnings.catch_warnings(action="error"), pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert " is not an expression: " in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dta.shape", "unknown name 'dta' in 'dta.shape'; did you mean 'data'?"),
        ("data.shpae", "unknown name 'data.shpae' in 'data.shpae'; did you mean 'shape'?"),
        ("axis.shape", "unknown name 'axis.shape' in 'axis.shape'; expected 'axis' alone"),
        ("mni(axis)", "unknown function 'mni' in 'mni(axis)'; did you mean 'min'?"),
        ("zzzz", "unknown name 'zzzz' in 'zzzz'; expected one of axis, data, mode"),
        (
            "data.shape.count(1)",
            "a call of '.count()' in 'data.shape.count(1)'; only functions can be called",
        ),
        ("[axis][0](1)", "a call of a value in '[axis][0](1)'; only functions can be called"),
    ],
)
def test_an_unknown_name_is_reported_once(text: str, message: str) -> None:
    assert mistakes_in(text) == [message]


@pytest.mark.parametrize(
    "text", ["data.__class__", "().__class__", "axis.__add__", "data.shape.__len__", "__import__"]
)
def test_no_internal_name_of_python_is_known(text: str) -> None:
    assert len(mistakes_in(text)) == 1


@pytest.mark.parametrize("text", ["open('x')", "eval('1')", "getattr(data, 'x')", "print(1)"])
def test_only_the_listed_functions_can_be_called(text: str) -> None:
    assert len(mistakes_in(text)) == 1
    with pytest.raises(ExpressionError):
        value_of(text)


def test_several_mistakes_are_all_reported() -> None:
    assert len(mistakes_in("foo(bar) + data.baz + bar")) == 3


@pytest.mark.parametrize("text", ["[n for n in data.shape]", "all(d.size > 0 for d in [data])"])
def test_the_variables_of_a_comprehension_are_known(text: str) -> None:
    assert mistakes_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *["1 // 0", "axis.shape", "nowhere", "max([])", "{}['x']", "data + 1", "int('x')"],
        *["10.0**400", "int('9' * 5000)", "axis" + "[0]" * 2000],
    ],
    ids=ascii,
)
def test_an_expression_that_cannot_be_evaluated_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"cannot be evaluated|is not an expression"):
        value_of(text)


@pytest.mark.parametrize("text", ["data.shape[2]", "[][0]", "replace(data.shape, 5, 0)"])
def test_an_index_out_of_range_makes_an_expression_inapplicable(text: str) -> None:
    with pytest.raises(Inapplicable):
        value_of(text)


def test_an_index_out_of_range_is_reported_with_the_values_of_all_names() -> None:
    with pytest.raises(Inapplicable) as caught:
        value_of("data.shape[axis + 3]")
    expected = "'data.shape[axis + 3]' with axis=-1, data=i8[2, 3] [0, 1, 2, 3, 4, 5]"
    assert str(caught.value) == f"index out of range in {expected}"


def test_a_failed_expression_does_not_affect_the_next() -> None:
    with pytest.raises(ExpressionError):
        value_of("[n // 0 for n in data.shape]")
    assert value_of("axis") == -1


@pytest.mark.parametrize(("text", "holds"), [("axis < 0", True), ("mode is not None", False)])
def test_a_condition_holds_or_not(text: str, holds: bool) -> None:
    assert is_true(text) is holds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *[("1", "1"), ("0", "0"), ("'yes'", "'yes'"), ("None", "None"), ("data.shape", "(2, 3)")],
        ("'a' * 1000", f"'{'a' * 97}...'"),
        (
            "2**2000 * 2**2000 * 2**2000 * 2**2000 * 2**2000 * 2**2000 * 2**2000 * 2**2000",
            "a number of thousands of digits",
        ),
    ],
)
def test_a_condition_that_is_neither_true_nor_false_is_an_error(text: str, found: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        is_true(text)
    assert str(caught.value) == f"'{text}' is {found}; expected true or false"


def test_an_integer_expression_has_its_value() -> None:
    assert evaluate_integer("2 * data.rank", NAMES) == 4


@pytest.mark.parametrize("text", ["'8'", "axis < 0", "None"])
def test_a_value_that_is_not_an_integer_is_an_error(text: str) -> None:
    with pytest.raises(ExpressionError, match="expected an integer"):
        evaluate_integer(text, NAMES)


def test_an_index_out_of_range_in_a_condition_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="index out of range in"):
        is_true("data.shape[9] == 1")


@pytest.mark.parametrize("name", sorted(vars(builtins).keys() - EXPRESSION_FUNCTIONS.keys()))
def test_no_builtin_can_be_reached(name: str) -> None:
    for text in (name, f"{name}()", f"[n for n in [1] if {name}(n)]", f"data.{name}_"):
        if name in ("None", "True", "False", "__debug__") and text == name:
            continue
        with pytest.raises(ExpressionError):
            value_of(text)


def test_a_name_hides_no_function() -> None:
    names = {"max": 5, "sum": 7}
    assert evaluate("max(max, sum) + max", names) == 12
    assert evaluate("[max for max in [1, 2]]", names) == (1, 2)
