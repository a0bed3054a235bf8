"""What a spec's examples state: arguments that there are, values of their types, whole shapes."""

from math import prod

from opcert.arrays import INTEGERS, fits
from opcert.specification.documented import DocumentedTensor
from opcert.specification.expressions import EXPRESSION_FUNCTIONS
from opcert.specification.model import Example, Spec
from opcert.specification.names import attribute_mistakes, element_type_mistakes
from opcert.specification.naming import Found, expression_mistakes, unknown_name
from opcert.yaml_files import KEY_STEP, YamlPath

_MOST_ELEMENTS = 10**6


def example_mistakes(spec: Spec) -> Found:
    """Yield each mistake in the documented examples, with the path to it."""
    for i, example in enumerate(spec.examples):
        path = ("examples", i)
        yield from _arguments(spec, example, path)
        literals = [
            *((("inputs", name), each) for name, each in example.inputs.items()),
            *((("outputs", j), each) for j, each in enumerate(example.outputs)),
        ]
        for where, literal in literals:
            yield from _literal((*path, *where), literal)


def _arguments(spec: Spec, example: Example, path: YamlPath) -> Found:
    for part, described, given in (
        ("inputs", spec.inputs, example.inputs),
        ("attributes", spec.attributes, example.attributes),
    ):
        known = [each.name for each in described]
        for name in given:
            yield from unknown_name(
                (*path, part, name, KEY_STEP), part.removesuffix("s"), name, known
            )
        for each in described:
            if each.required and each.name not in given:
                yield (*path, part), f"required '{each.name}' is left out"
    for attribute in spec.attributes:
        if attribute.name in example.attributes:
            value = example.attributes[attribute.name]
            yield from attribute_mistakes((*path, "attributes", attribute.name), attribute, value)


def _literal(path: YamlPath, literal: DocumentedTensor) -> Found:
    yield from element_type_mistakes((*path, "type"), literal.type)
    if min(literal.shape, default=0) < 0 or prod(literal.shape) > _MOST_ELEMENTS:
        found = f"the shape {list(literal.shape)}"
        yield (*path, "shape"), f"{found}; expected sizes for {_MOST_ELEMENTS} elements at most"
    if literal.element is not None:
        yield from expression_mistakes(
            (*path, "element"), literal.element, {"i": ()}, EXPRESSION_FUNCTIONS
        )
        if literal.values is not None:
            yield (*path, "element", KEY_STEP), "'element' beside 'values'; expected one of them"
    for i, value in enumerate(literal.values or ()):
        if not _is_of_type(value, literal.type):
            yield (*path, "values", i), f"found {value}; expected a value of {literal.type}"
    if literal.values is not None and len(literal.values) != prod(literal.shape):
        found = f"{len(literal.values)} values for the shape {list(literal.shape)}"
        yield (*path, "values"), f"{found}; expected {prod(literal.shape)}"


def _is_of_type(value: bool | int | float, element_type: str) -> bool:
    if element_type == "boolean":
        return value in (0, 1)
    if element_type in INTEGERS:
        return type(value) is int and fits(element_type, value)
    return True
