"""The hand-written checks of the reference against the conditions in the specs, on any call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from opcert.arrays.calls import Call, Tensor, argument_of, group_variadic, keys_of
from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.cases.conditions import Conditions
from opcert.errors import ExpressionError
from opcert.reference import RuleBroken
from opcert.specification.files import SpecFile, read_specs_in
from opcert.suite.operator_suite import OperatorSuite
from tests import shipped

OPERATORS = [each.spec.operator for each in read_specs_in(None)]
# The references of others leave checks to the spec.
MOVING = [name for name in OPERATORS if name.partition("/")[2] in shipped.MOVING]


# A call that keeps every rule may still have outputs that no memory has room for.
MAX_ELEMENTS = 1 << 22
MODES = ["numpy", "explicit", "", "bidirectional", "constant", "edge", "reflect", "symmetric"]


# Hypothesis shows what a strategy was made of, and a suite is long.
@dataclass(frozen=True, repr=False)
class Judges:
    """Who says what a call breaks: the spec's conditions, and the reference."""

    spec_file: SpecFile
    suite: OperatorSuite
    conditions: Conditions
    cases: Sequence[str]


@cache
def judges(operator: str) -> Judges:
    (spec_file,) = read_specs_in(None, operator)
    suite = shipped.suite(operator).operators[operator]
    return Judges(spec_file, suite, Conditions(spec_file.spec), [*suite.cases])


def rule_named(judge: Judges, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> str:
    """Return the rule that the reference names, or nothing where it accepts the call."""
    try:
        judge.spec_file.reference(**group_variadic(inputs), **attributes)
    except RuleBroken as error:
        return error.rule.partition("/")[2]
    return ""


def has_small_outputs(conditions: Conditions, call: Call) -> bool:
    """Whether the outputs of a valid call are few and small; the spec counts 1000 at most."""
    try:
        return conditions.has_small_outputs(call, MAX_ELEMENTS)
    except ExpressionError:
        return False


def tensor_of(array: Array) -> Tensor:
    """Return what expressions see of `array`."""
    return Tensor(type_name(array.dtype), array.shape, tuple(array.ravel().tolist()))


@st.composite
def changed_values(draw: st.DrawFn, array: Array) -> Array:
    """Draw other small elements, another type, or another shape of a small integer tensor."""
    other = array.copy()
    how = draw(st.sampled_from(["element", "type", "shape", "longer", "shorter"]))
    if how == "element" and array.size and array.dtype.kind in "iu":
        least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        near = st.integers(max(least, -10), 10) | st.sampled_from([int(least), int(most)])
        other.flat[draw(st.integers(0, array.size - 1))] = draw(near)
    elif how == "type":
        with np.errstate(all="ignore"):
            name = draw(st.sampled_from(["f32", "f64", "boolean", "i8", "u16", "i64", "u64"]))
            other = array.astype(ELEMENT_TYPES[name])
    elif how == "shape":
        other = array.reshape(draw(st.sampled_from([(1, *array.shape), (*array.shape, 1), (-1,)])))
    elif how == "longer":
        other = np.append(array.ravel(), array.ravel()[:1])
    elif array.ndim:
        other = array[: max(0, array.shape[0] - 1)]
    return other


@st.composite
def changed_shape(draw: st.DrawFn, array: Array) -> Array:
    """Draw data of another rank, extent or type."""
    shape = list(array.shape)
    how = draw(st.sampled_from(["extent", "drop", "add", "type", "scalar"]))
    if how == "extent" and shape:
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 4))
    elif how == "drop" and shape:
        del shape[draw(st.integers(0, len(shape) - 1))]
    elif how == "add":
        shape.insert(draw(st.integers(0, len(shape))), draw(st.integers(1, 3)))
    elif how == "scalar":
        shape = []
    types = st.sampled_from(sorted(ELEMENT_TYPES)) if how == "type" else st.none()
    name = draw(types)
    return np.zeros(shape, array.dtype if name is None else ELEMENT_TYPES[name])


@st.composite
def changed_numbers(draw: st.DrawFn, numbers: list[int]) -> list[int]:
    """Draw a list with another number at one place, one number more, or fewer of them."""
    others = list(numbers)
    how = draw(st.sampled_from(["near", "any", "longer", "shorter"]))
    if how == "longer":
        return [*others, draw(st.integers(0, 2))]
    if how == "shorter":
        return others[: draw(st.integers(0, len(others)))]
    if others:
        k = draw(st.integers(0, len(others) - 1))
        near = st.integers(others[k] - 3, others[k] + 3)
        anywhere = st.sampled_from([-1, 0, 1, 2, -(2**31), 2**31, 2**32 - 1, 2**32, 2**63])
        others[k] = draw(near if how == "near" else anywhere)
    return others


@st.composite
def changed_attribute(draw: st.DrawFn, value: Any) -> Any:
    """Draw another value of an attribute of the same kind."""
    if isinstance(value, bool):
        return draw(st.booleans())
    if isinstance(value, dict):
        sizes = draw(changed_numbers(value["Sizes"]))
        types = st.sampled_from([value["DataType"], "FLOAT32", "INT64"])
        return {**value, "Sizes": sizes, "DataType": draw(types)}
    # An empty list may be one of records, and remains empty.
    if isinstance(value, list) and value and not any(isinstance(each, dict) for each in value):
        return draw(changed_numbers(value))
    if isinstance(value, int):
        return draw(st.integers(-10, 10) | st.sampled_from([-(2**31), 2**31 - 1]))
    if isinstance(value, str):
        return draw(st.sampled_from(MODES))
    items = [dict(each, Sizes=list(each["Sizes"])) for each in value]
    sizes = draw(st.sampled_from(items))["Sizes"] if items else []
    if sizes:
        sizes[draw(st.integers(0, len(sizes) - 1))] += draw(st.integers(-3, 3))
    return items[: draw(st.integers(0, len(items)))] if draw(st.booleans()) else items


def may_be_left_out(judge: Judges, name: str, inputs: Mapping[str, Array]) -> bool:
    """Whether a rule is about omitting an argument; a struct always has all its members."""
    spec, argument = judge.spec_file.spec, argument_of(name)
    required = {each.name for each in spec.arguments if each.required}
    is_all = len(keys_of(argument, inputs)) <= 1
    rules = {rule.derived for rule in spec.requirements.values()}
    return not is_all or argument not in required or "required" in rules


@st.composite
def calls(draw: st.DrawFn, judge: Judges) -> tuple[dict[str, Array], dict[str, Any]]:
    """Draw a case of the core suite and change up to two of its arguments in any way."""
    case = judge.suite.cases[draw(st.sampled_from(judge.cases))]
    inputs, attributes = judge.suite.inputs(case), dict(case.attributes)
    for _ in range(draw(st.integers(0, 2))):
        names = sorted({*inputs, *attributes})
        if not names:
            break
        name = draw(st.sampled_from(names))
        if draw(st.integers(0, 9)) == 0 and may_be_left_out(judge, name, inputs):
            inputs.pop(name, None)
            attributes.pop(name, None)
        elif name in attributes:
            attributes[name] = draw(changed_attribute(attributes[name]))
        elif name == judge.spec_file.spec.inputs[0].name:
            inputs[name] = draw(changed_shape(inputs[name]))
        else:
            inputs[name] = draw(changed_values(inputs[name]))
    return inputs, attributes


@shipped.at_length("operator", zip(MOVING))
@settings(max_examples=400, deadline=None, derandomize=True)
@given(data=st.data())
def test_the_reference_rejects_what_the_conditions_reject(
    operator: str, data: st.DataObject
) -> None:
    judge = judges(operator)
    inputs, attributes = data.draw(calls(judge))
    call = Call({name: tensor_of(array) for name, array in inputs.items()}, attributes)
    broken = judge.conditions.check(call).violated
    assume(broken or has_small_outputs(judge.conditions, call))
    named = rule_named(judge, inputs, attributes)
    assert (named in broken) if broken else (named == "")
