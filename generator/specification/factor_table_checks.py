"""The checks of a spec's factor table: further levels, constraints, attributes without a role."""

from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.role import Role
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import abbreviate, evaluate, parse_expression
from opcert.specification.mistakes import (
    KnownNames,
    Mistakes,
    expression_mistakes,
    is_misspelt_as,
    unknown_name,
)
from opcert.specification.model import Spec
from opcert.yaml_files.source import KEY_STEP, YamlPath


def factor_table_mistakes(spec: Spec) -> Mistakes:
    """Yield each mistake in the factor table, with the path to it."""
    # The levels, in all profiles, of each factor.
    factors: dict[str, set[str]] = {}
    for profile in ("core", "full", "stress"):
        for role in spec.bound_roles:
            for factor in role.factors(profile):
                factors.setdefault(factor.name, set()).update(factor.levels)
    constants: KnownNames = dict.fromkeys(spec.fixed_names, ())
    for name, additional in spec.cases.additional.items():
        path: YamlPath = ("cases", "additional", name)
        yield from unknown_name((*path, KEY_STEP), "factor of a role", name, factors)
        if not additional:
            yield path, f"factor '{name}' has no levels"
        for level, text in additional.items():
            mistakes = [*expression_mistakes((*path, level), text, constants)]
            yield from mistakes or _value_mistakes((*path, level), text, spec)
            if level in factors.get(name, ()):
                yield (*path, level, KEY_STEP), f"duplicate level '{level}' of factor '{name}'"
    known: KnownNames = {**constants, **dict.fromkeys(factors, ())}
    for i, text in enumerate(spec.cases.constraints):
        mistakes = [*expression_mistakes(("cases", "constraints", i), text, known)]
        yield from mistakes
        if not mistakes and parse_expression(text).names.isdisjoint(factors):
            problem = f"{abbreviate(text)} uses no factor; expected a condition on factors"
            yield ("cases", "constraints", i), problem
    yield from _attribute_mistakes(spec, known)


def _value_mistakes(path: YamlPath, text: str, spec: Spec) -> Mistakes:
    """Yield a mistake if the value of a level is neither a number nor text."""
    try:
        value = evaluate(parse_expression(text), spec.fixed_names, EXPRESSION_FUNCTIONS)
    except (ExpressionError, Inapplicable) as error:
        yield path, str(error)
        return
    if not isinstance(value, bool | int | float | str):
        yield path, f"the value of a level is {abbreviate(value)}; expected a number or text"


def _attribute_mistakes(spec: Spec, known: KnownNames) -> Mistakes:
    """Yield the mistakes in the values of arguments without a role."""
    known = {**known, **dict.fromkeys((role.name for role in spec.bound_roles), ())}
    written, names = spec.cases.attributes, [attribute.name for attribute in spec.attributes]
    for name, text in written.items():
        path = ("cases", "attributes", name)
        yield from unknown_name((*path, KEY_STEP), "attribute", name, names)
        yield from expression_mistakes(path, text, known)
    for i, item in enumerate(spec.inputs):
        if not isinstance(item, Role):
            yield ("inputs", i, "name"), f"'{item.name}' has no role; expected the key 'role'"
    for i, attribute in enumerate(spec.attributes):
        is_missing = not isinstance(attribute, Role) and attribute.name not in written
        if is_missing and not is_misspelt_as(attribute.name, written, names):
            text = f"no expression for '{attribute.name}', which has no role; expected one"
            yield ("attributes", i, "name"), text
