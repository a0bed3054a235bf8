"""The checks of a spec's factor table: factors, levels, draws, and how levels are observed."""

from collections.abc import Mapping
from typing import Any

from opcert.arrays.tensor_functions import TENSOR_BUILDERS
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.samplers import DRAW_FUNCTIONS
from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
from opcert.specification.expressions import (
    abbreviate,
    evaluate,
    parse_expression,
)
from opcert.specification.mistakes import (
    KnownNames,
    Mistakes,
    call_names,
    expression_mistakes,
    is_misspelt_as,
    unknown_name,
)
from opcert.specification.model import Levels, Spec
from opcert.yaml_files.source import KEY_STEP, YamlPath


def factor_table_mistakes(spec: Spec) -> Mistakes:
    """Yield each mistake in the factor table, with the path to it."""
    yield from _factor_mistakes(spec)
    yield from _factor_name_mistakes(spec)
    yield from _condition_mistakes(spec)
    yield from _draw_mistakes(spec)
    yield from _observation_mistakes(spec)


def _role_levels(spec: Spec) -> dict[str, list[str]]:
    """Return the levels, in all profiles, of each factor that roles have."""
    levels: dict[str, dict[str, None]] = {}
    for profile in ("core", "full", "stress"):
        for role in spec.bound_roles:
            for factor in role.factors(profile):
                levels.setdefault(factor.name, {}).update(dict.fromkeys(factor.levels))
    return {factor: [*names] for factor, names in levels.items()}


def _level_names(spec: Spec, factor: str) -> list[str]:
    """Return a factor's levels in all profiles; none if the expression that lists them fails."""
    names: dict[str, None] = dict.fromkeys(_role_levels(spec).get(factor, ()))
    for profile in ("core", *spec.cases.profiles):
        levels = spec.cases.levels(profile).get(factor, {})
        try:
            if isinstance(levels, str):
                levels = evaluate(parse_expression(levels), spec.fixed_names, EXPRESSION_FUNCTIONS)
            names |= dict.fromkeys(map(str, levels))
        except (ExpressionError, Inapplicable, TypeError):
            return []
    return [*names]


def _factor_mistakes(spec: Spec) -> Mistakes:
    """Yield the mistakes in the levels of factors; each factor can use those before it."""
    table, fixed, of_roles = spec.cases, spec.fixed_names, _role_levels(spec)
    known: dict[str, tuple[str, ...]] = dict.fromkeys((*fixed, *of_roles), ())
    for factor, levels in table.factors.items():
        yield from _level_mistakes(("cases", "factors", factor), levels, known, fixed)
        for profile, others in table.profiles.items():
            if factor in others:
                path: YamlPath = ("cases", "profiles", profile, factor)
                yield from _level_mistakes(path, others[factor], known, fixed)
        known[factor] = ()
    for factor, additional in table.additional.items():
        path = ("cases", "additional", factor)
        yield from unknown_name((*path, KEY_STEP), "factor of a role", factor, of_roles)
        yield from _level_mistakes(path, additional, known, fixed)
        for level in additional:
            if level in of_roles.get(factor, ()):
                yield (*path, level, KEY_STEP), f"duplicate level '{level}' of factor '{factor}'"


def _level_mistakes(
    path: YamlPath, levels: Levels, known: KnownNames, fixed: Mapping[str, Any]
) -> Mistakes:
    if isinstance(levels, str):
        yield from _level_list_mistakes(path, levels, fixed)
    elif not levels:
        yield path, f"factor '{path[-1]}' has no levels"
    else:
        for level, text in levels.items():
            yield from expression_mistakes((*path, level), text, known)


def _level_list_mistakes(path: YamlPath, text: str, fixed: Mapping[str, Any]) -> Mistakes:
    """Yield the mistakes in an expression that lists levels, which cannot use other factors."""
    mistakes = [*expression_mistakes(path, text, dict.fromkeys(fixed, ()))]
    yield from mistakes
    if mistakes:
        return
    try:
        levels = evaluate(parse_expression(text), fixed, EXPRESSION_FUNCTIONS)
    except (ExpressionError, Inapplicable) as error:
        yield path, str(error)
        return
    if not (isinstance(levels, tuple | range) and levels):
        value = f"{abbreviate(text)} is {abbreviate(levels)}"
        yield path, f"{value}; expected a list of levels, or a mapping that names each"


def _factor_name_mistakes(spec: Spec) -> Mistakes:
    """Yield each unknown factor or level that the table names."""
    table = spec.cases
    known = [*_role_levels(spec), *table.factors]
    for factor in table.derived:
        yield from unknown_name(("cases", "derived", factor, KEY_STEP), "factor", factor, known)
    for factor, words in table.words.items():
        path: YamlPath = ("cases", "words", factor)
        yield from unknown_name((*path, KEY_STEP), "factor", factor, known)
        levels = _level_names(spec, factor) if factor in known else []
        for level in words if isinstance(words, dict) and levels else ():
            yield from unknown_name((*path, level, KEY_STEP), "level", level, levels)
    for profile, others in table.profiles.items():
        for factor in others:
            path = ("cases", "profiles", profile, factor, KEY_STEP)
            yield from unknown_name(path, "factor", factor, known)
    for i, factors in enumerate(table.full_combinations):
        for j, factor in enumerate(factors):
            yield from unknown_name(("cases", "full_combinations", i, j), "factor", factor, known)


def _condition_mistakes(spec: Spec) -> Mistakes:
    """Yield the mistakes in constraints and derived factors."""
    table = spec.cases
    factors = [*_role_levels(spec), *table.factors]
    known = dict.fromkeys((*spec.fixed_names, *factors), ())
    conditions: list[tuple[YamlPath, str, str | None]] = [
        *((("cases", "constraints", i), text, None) for i, text in enumerate(table.constraints)),
        *((("cases", "derived", factor), text, factor) for factor, text in table.derived.items()),
    ]
    for path, text, derived in conditions:
        # A derived factor does not depend on itself.
        others = tuple(factor for factor in factors if factor != derived)
        names = dict.fromkeys((name for name in known if name != derived), ())
        mistakes = [*expression_mistakes(path, text, {**names, "level": others})]
        yield from mistakes
        if not mistakes and parse_expression(text).names.isdisjoint((*factors, "level")):
            yield path, f"{abbreviate(text)} uses no factor; expected a condition on factors"


def _draw_mistakes(spec: Spec) -> Mistakes:
    """Yield the mistakes in draws, and in the expressions of arguments that use them."""
    table, roles = spec.cases, spec.bound_roles
    names = (*spec.fixed_names, *_role_levels(spec), *table.factors, *(role.name for role in roles))
    known: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    known["level"] = (*_role_levels(spec), *table.factors)
    for name, text in table.draw.items():
        functions = {**EXPRESSION_FUNCTIONS, **DRAW_FUNCTIONS}
        yield from expression_mistakes(("cases", "draw", name), text, known, functions)
        known[name] = ()
    for part, kind, arguments, expressions in (
        ("inputs", "input", spec.inputs, table.inputs),
        ("attributes", "attribute", spec.attributes, table.attributes),
    ):
        argument_names = [argument.name for argument in arguments]
        for name, text in expressions.items():
            path = ("cases", part, name)
            functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS}
            yield from unknown_name((*path, KEY_STEP), kind, name, argument_names)
            yield from expression_mistakes(path, text, known, functions)
        for argument in arguments:
            is_missing = argument.name not in expressions and argument not in roles
            if is_missing and not is_misspelt_as(argument.name, expressions, argument_names):
                text = f"no expression for '{argument.name}', which has no role; expected one"
                yield ("cases", part), text


def _observation_mistakes(spec: Spec) -> Mistakes:
    table, known = spec.cases, call_names(spec)
    for name, text in table.places.items():
        yield from expression_mistakes(("cases", "places", name), text, known)
        known = {**known, name: ()}
    for name, observation in table.observe.items():
        path: YamlPath = ("cases", "observe", name)
        if isinstance(observation, str):
            yield from expression_mistakes(path, observation, known)
            # Names that are not factors can be used by later expressions.
            known = known if name in table.factors else {**known, name: ()}
        elif name not in table.factors:
            yield from unknown_name((*path, KEY_STEP), "factor", name, table.factors)
        else:
            for level, text in observation.items():
                yield from expression_mistakes((*path, level), text, known)
            levels = _level_names(spec, name)
            for level in levels:
                if level not in observation and not is_misspelt_as(level, observation, levels):
                    yield path, f"no condition for the level '{level}'; expected one for each level"
            for level in observation if levels else ():
                yield from unknown_name((*path, level, KEY_STEP), "level", level, levels)
