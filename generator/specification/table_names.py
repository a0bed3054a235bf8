"""What the table of factors names: levels, draws, inputs, and how factors show in a call."""

from collections.abc import Mapping, Sequence
from typing import Any

from opcert.arrays import TENSOR_BUILDERS
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles import DRAW_FUNCTIONS
from opcert.specification.expressions import (
    EXPRESSION_FUNCTIONS,
    abbreviate,
    evaluate,
    parse_expression,
)
from opcert.specification.model import Levels, Spec
from opcert.specification.naming import (
    Found,
    Known,
    call_names,
    expression_mistakes,
    unknown_name,
)
from opcert.yaml_files import KEY_STEP, YamlPath


def table_mistakes(spec: Spec) -> Found:
    """Yield what is wrong with the names in the table of factors."""
    table = spec.cases
    fixed = spec.fixed_names
    roles = role_levels(spec)
    known: dict[str, tuple[str, ...]] = dict.fromkeys((*fixed, *roles), ())
    for factor, levels in table.factors.items():
        yield from _levels(("cases", "factors", factor), levels, known, fixed)
        for profile, others in table.profiles.items():
            if factor in others:
                yield from _levels(
                    ("cases", "profiles", profile, factor), others[factor], known, fixed
                )
        known[factor] = ()
    for factor, more in table.additional.items():
        here: YamlPath = ("cases", "additional", factor)
        yield from unknown_name((*here, KEY_STEP), "factor of a role", factor, [*roles])
        yield from _levels(here, more, known, fixed)
        for level in more:
            if level in roles.get(factor, ()):
                yield (
                    (*here, level, KEY_STEP),
                    f"the factor '{factor}' has the level '{level}' already",
                )
    factors = [*roles, *table.factors]
    yield from _factor_names(spec)
    known["level"] = tuple(factors)
    for i, text in enumerate(table.constraints):
        yield from _over_factors(("cases", "constraints", i), text, known, factors)
    for factor, text in table.derived.items():
        beside = {name: dots for name, dots in known.items() if name != factor}
        beside["level"] = tuple(each for each in factors if each != factor)
        yield from _over_factors(("cases", "derived", factor), text, beside, factors)
    yield from _draws(spec, known)
    yield from _seen(spec)


def role_levels(spec: Spec) -> dict[str, list[str]]:
    """Return the levels of each factor that roles have, of all profiles, by name."""
    found: dict[str, dict[str, None]] = {}
    for profile in ("core", "full", "stress"):
        for role in spec.bound_roles:
            for factor in role.factors(profile):
                found.setdefault(factor.name, {}).update(dict.fromkeys(factor.levels))
    return {factor: [*levels] for factor, levels in found.items()}


def _over_factors(path: YamlPath, text: str, known: Known, factors: Sequence[str]) -> Found:
    mistakes = list(expression_mistakes(path, text, known, EXPRESSION_FUNCTIONS))
    yield from mistakes
    if not mistakes and parse_expression(text).names.isdisjoint((*factors, "level")):
        yield path, f"{abbreviate(text)} names no factor; expected one in it"


def _factor_names(spec: Spec) -> Found:
    """Yield what names a factor or one of its levels and is none."""
    table, roles = spec.cases, role_levels(spec)
    known = [*roles, *table.factors]
    for factor in table.derived:
        yield from unknown_name(("cases", "derived", factor, KEY_STEP), "factor", factor, known)
    for factor, words in table.words.items():
        here: YamlPath = ("cases", "words", factor)
        yield from unknown_name((*here, KEY_STEP), "factor", factor, known)
        levels = _all_levels(spec, factor) if factor in known else []
        for level in words if isinstance(words, dict) and levels else ():
            yield from unknown_name((*here, level, KEY_STEP), "level", level, levels)
    for profile, others in table.profiles.items():
        for factor in others:
            yield from unknown_name(
                ("cases", "profiles", profile, factor, KEY_STEP), "factor", factor, known
            )
    for i, factors in enumerate(table.full_combinations):
        for j, factor in enumerate(factors):
            yield from unknown_name(("cases", "full_combinations", i, j), "factor", factor, known)


def _all_levels(spec: Spec, factor: str) -> list[str]:
    """Return a factor's levels in all profiles by name; none where they cannot be listed."""
    names: dict[str, None] = dict.fromkeys(role_levels(spec).get(factor, ()))
    for profile in ("core", *spec.cases.profiles):
        levels = spec.cases.levels(profile).get(factor, {})
        try:
            listed = (
                evaluate(parse_expression(levels), spec.fixed_names, EXPRESSION_FUNCTIONS)
                if isinstance(levels, str)
                else levels
            )
            names |= dict.fromkeys(map(str, listed))
        except (ExpressionError, Inapplicable, TypeError):
            return []
    return [*names]


def _levels(path: YamlPath, levels: Levels, known: Known, fixed: Mapping[str, Any]) -> Found:
    if isinstance(levels, str):
        yield from _listed_levels(path, levels, fixed)
    elif not levels:
        yield path, f"the factor '{path[-1]}' has no levels"
    else:
        for level, text in levels.items():
            yield from expression_mistakes((*path, level), text, known, EXPRESSION_FUNCTIONS)


def _seen(spec: Spec) -> Found:
    table, known = spec.cases, call_names(spec)
    for name, text in table.places.items():
        yield from expression_mistakes(("cases", "places", name), text, known, EXPRESSION_FUNCTIONS)
        known = {**known, name: ()}
    for name, seen in table.observe.items():
        here: YamlPath = ("cases", "observe", name)
        if isinstance(seen, str):
            yield from expression_mistakes(here, seen, known, EXPRESSION_FUNCTIONS)
            # The value of a level is for comparing; what is no factor is for those behind it.
            known = known if name in table.factors else {**known, name: ()}
        elif name not in table.factors:
            yield from unknown_name((*here, KEY_STEP), "factor", name, list(table.factors))
        else:
            for level, text in seen.items():
                yield from expression_mistakes((*here, level), text, known, EXPRESSION_FUNCTIONS)
            yield from _unseen_levels(spec, here, name)


def _unseen_levels(spec: Spec, path: YamlPath, factor: str) -> Found:
    """Yield a mistake for each level of `factor` that 'observe' leaves out, or that is none."""
    seen, levels = spec.cases.observe[factor], _all_levels(spec, factor)
    for level in levels:
        if level not in seen:
            yield path, f"does not say when the level '{level}' shows"
    for level in seen if levels else ():
        yield from unknown_name((*path, level, KEY_STEP), "level", level, levels)


def _listed_levels(path: YamlPath, text: str, fixed: Mapping[str, Any]) -> Found:
    """Check an expression that lists levels: it stands alone, so its value shows at once."""
    mistakes = list(expression_mistakes(path, text, dict.fromkeys(fixed, ()), EXPRESSION_FUNCTIONS))
    yield from mistakes
    if mistakes:
        return
    try:
        levels = evaluate(parse_expression(text), fixed, EXPRESSION_FUNCTIONS)
    except (ExpressionError, Inapplicable) as error:
        yield path, str(error)
        return
    if not (isinstance(levels, tuple | range) and levels):
        found = f"{abbreviate(text)} is {abbreviate(levels)}"
        yield path, f"{found}; expected a list of levels, or a mapping that names each"


def _draws(spec: Spec, factors: Known) -> Found:
    table, drawn = spec.cases, {**factors, **{role.name: () for role in spec.bound_roles}}
    for name, text in table.draw.items():
        here = ("cases", "draw", name)
        yield from expression_mistakes(
            here, text, drawn, {**EXPRESSION_FUNCTIONS, **DRAW_FUNCTIONS}
        )
        drawn[name] = ()
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        known = [each.name for each in described]
        given: Mapping[str, str] = getattr(table, part)
        for name, text in given.items():
            here = ("cases", part, name)
            yield from unknown_name((*here, KEY_STEP), part.removesuffix("s"), name, known)
            yield from expression_mistakes(
                here, text, drawn, {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS}
            )
        for each in described:
            if each.name not in given and each not in spec.bound_roles:
                yield ("cases", part), f"'{each.name}' is not drawn; expected an expression for it"
