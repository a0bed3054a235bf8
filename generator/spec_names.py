"""What a spec names: every id, type, input and expression must be known where it stands."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import JsonValue

from opcert.generator.arrays import ARRAYS
from opcert.generator.calls import BUILDERS, CHANGES
from opcert.generator.element_types import ELEMENT_TYPES
from opcert.generator.errors import ExpressionError, Inapplicable, did_you_mean
from opcert.generator.expressions import (
    CONSTANTS,
    FUNCTIONS,
    TENSOR_ATTRIBUTES,
    Functions,
    evaluate,
    parse,
    shown,
)
from opcert.generator.samplers import SAMPLERS
from opcert.generator.spec import Attribute, FurtherCall, Levels, Rule, Spec
from opcert.generator.yaml_source import KEY, SpecPath

Found: TypeAlias = Iterator[tuple[SpecPath, str]]
Known: TypeAlias = Mapping[str, tuple[str, ...]]

# The most elements of a documented tensor, which has to fit a pack.
_ATTRIBUTE_TYPES = {"int": int, "string": str, "list": list}


def name_mistakes(spec: Spec) -> list[tuple[SpecPath, str]]:
    """Return each mistake with the path to it; reads names alone, draws nothing."""
    return [
        *_types(spec),
        *_repeated_ids(spec),
        *_shadowing_names(spec),
        *_ranges_and_outputs(spec),
        *_rules(spec),
        *_ambiguities(spec),
        *_laws(spec),
        *_cases(spec),
    ]


def expression_mistakes(path: SpecPath, text: str, known: Known, functions: Functions) -> Found:
    """Yield what is wrong with the expression at `path`, given what it may name and call."""
    try:
        mistakes = parse(text).mistakes(known, functions)
    except ExpressionError as error:
        mistakes = [str(error)]
    for mistake in mistakes:
        yield path, mistake


def _call_names(spec: Spec) -> Known:
    """Return what conditions on a call may name."""
    fixed = dict.fromkeys((*CONSTANTS, *spec.constants, *spec.types, "omitted"), ())
    return {
        **fixed,
        **dict.fromkeys((each.name for each in spec.inputs), TENSOR_ATTRIBUTES),
        **dict.fromkeys((each.name for each in spec.attributes), ()),
    }


def unknown_name(path: SpecPath, what: str, name: str, known: list[str]) -> Found:
    """Yield a mistake where `name` is not among what is `known`."""
    if name not in known:
        yield path, f"unknown {what} '{name}'{did_you_mean(name, known)}"


def _types(spec: Spec) -> Found:
    for symbol, types in spec.types.items():
        for i, name in enumerate(types if isinstance(types, tuple) else ()):
            yield from element_type_mistakes(("types", symbol, i), name)
    for i, each in enumerate(spec.inputs):
        yield from unknown_name(("inputs", i, "type"), "type symbol", each.type, list(spec.types))
    # An output takes its type from an input that is always there.
    symbols = list(dict.fromkeys(each.type for each in spec.inputs if each.required))
    for i, output in enumerate(spec.outputs):
        if output.type not in symbols:
            text = f"no required input has the type symbol '{output.type}'"
            yield ("outputs", i, "type"), f"{text}{did_you_mean(output.type, symbols)}"
    for i, level in enumerate(spec.feature_levels):
        for j, name in enumerate(level.types):
            yield from element_type_mistakes(("feature_levels", i, "types", j), name)


def element_type_mistakes(path: SpecPath, name: str) -> Found:
    """Yield a mistake where there is no element type `name`."""
    yield from unknown_name(path, "element type", name, list(ELEMENT_TYPES))


def _argument_names(spec: Spec) -> list[tuple[SpecPath, str]]:
    return [
        *((("inputs", i, "name"), each.name) for i, each in enumerate(spec.inputs)),
        *((("attributes", i, "name"), each.name) for i, each in enumerate(spec.attributes)),
    ]


def _repeated_ids(spec: Spec) -> Found:
    named = _argument_names(spec)
    for key in ("rules", "ambiguities", "laws", "examples"):
        named += [((key, i, "id"), each.id) for i, each in enumerate(getattr(spec, key))]
    times = Counter(name for _, name in named)
    for path, name in named:
        if times[name] > 1:
            yield path, f"'{name}' stands {times[name]} times; expected a name of its own"


def _shadowing_names(spec: Spec) -> Found:
    fixed = {*CONSTANTS, *spec.constants, *spec.types, "omitted", "outputs", "level", "i"}
    named = _argument_names(spec)
    for key in ("factors", "draw"):
        named += [(("cases", key, name, KEY), name) for name in getattr(spec.cases, key)]
    for i, law in enumerate(spec.laws):
        named += [(("laws", i, "calls", name, KEY), name) for name in law.calls]
    arguments = {each.name for each in spec.arguments}
    for path, name in named:
        if name in fixed or (path[0] == "laws" and name in arguments):
            yield path, f"'{name}' already means something else in expressions; expected another"


def _ranges_and_outputs(spec: Spec) -> Found:
    known = _call_names(spec)
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, each in enumerate(described):
            if part == "attributes" and each.range is not None and each.type != "int":
                yield (part, i, "range", KEY), f"'range' of a {each.type}; only integers have one"
            for key in ("rank", "range"):
                for j, end in enumerate(getattr(each, key, None) or ()):
                    yield from expression_mistakes((part, i, key, j), end, known, FUNCTIONS)
    for i, attribute in enumerate(spec.attributes):
        if attribute.default is not None:
            yield from attribute_mistakes(
                ("attributes", i, "default"), attribute, attribute.default
            )
    for i, output in enumerate(spec.outputs):
        yield from expression_mistakes(("outputs", i, "count"), output.count, known, FUNCTIONS)
        numbered = {**known, "i": ()}
        yield from expression_mistakes(("outputs", i, "shape"), output.shape, numbered, FUNCTIONS)


def attribute_mistakes(path: SpecPath, attribute: Attribute, value: JsonValue) -> Found:
    """Yield a mistake where `value` is none of the attribute."""
    wanted = _ATTRIBUTE_TYPES[attribute.type]
    if not isinstance(value, wanted) or isinstance(value, bool):
        yield path, f"found {shown(value)}; expected an attribute of type {attribute.type}"
    elif attribute.one_of is not None and value not in attribute.one_of:
        yield from unknown_name(path, "value", str(value), list(attribute.one_of))


def _rules(spec: Spec) -> Found:
    known = _call_names(spec)
    for i, rule in enumerate(spec.rules):
        path = ("rules", i)
        yield from expression_mistakes((*path, "when"), rule.when, known, FUNCTIONS)
        if rule.kind == "requirement":
            yield from _requirement(spec, rule, path, known)
        else:
            yield from _behaviour(rule, path, known)
        earlier = [each.id for each in spec.rules[:i] if each.kind == "requirement"]
        for j, name in enumerate(rule.given if rule.kind == "requirement" else ()):
            yield from unknown_name((*path, "given", j), "earlier requirement", name, earlier)


def _requirement(spec: Spec, rule: Rule, path: SpecPath, known: Known) -> Found:
    if rule.holds is None:
        text = f"requirement '{rule.id}' has no condition; expected the key 'holds'"
        yield (*path, "id"), text
    else:
        yield from expression_mistakes((*path, "holds"), rule.holds, known, FUNCTIONS)
    if not rule.broken_by and rule.unbreakable is None:
        text = f"requirement '{rule.id}' is never broken; expected 'broken_by' or 'unbreakable'"
        yield (*path, "id"), text
    if rule.broken_by and rule.unbreakable is not None:
        yield (*path, "unbreakable", KEY), "'unbreakable' beside 'broken_by'; expected one of them"
    yield from _ways(spec, (*path, "broken_by"), rule.broken_by)


def _behaviour(rule: Rule, path: SpecPath, known: Known) -> Found:
    for key in ("broken_by", "unbreakable", "given"):
        if getattr(rule, key):
            yield (*path, key, KEY), f"'{key}' in a behaviour; only a requirement can be broken"
    if rule.holds is not None:
        with_outputs = {**known, "outputs": ()}
        yield from expression_mistakes((*path, "holds"), rule.holds, with_outputs, FUNCTIONS)


def _ways(spec: Spec, path: SpecPath, ways: Mapping[str, Mapping[str, str]]) -> Found:
    arguments = [each.name for each in (*spec.inputs, *spec.attributes)]
    functions = {**FUNCTIONS, **BUILDERS, **CHANGES}
    for way, change in ways.items():
        if len(change) != 1 and path[0] == "rules":
            text = f"{len(change)} changes; expected one change to a valid call"
            yield (*path, way), text
        for target, text in change.items():
            here = (*path, way, target)
            yield from unknown_name((*here, KEY), "input or attribute", target, arguments)
            yield from expression_mistakes(here, text, _call_names(spec), functions)


def _ambiguities(spec: Spec) -> Found:
    for i, each in enumerate(spec.ambiguities):
        path = ("ambiguities", i)
        yield from expression_mistakes(
            (*path, "touches"), each.touches, _call_names(spec), FUNCTIONS
        )
        yield from _ways(spec, (*path, "shown_by"), each.shown_by)


def _laws(spec: Spec) -> Found:
    for i, law in enumerate(spec.laws):
        path = ("laws", i)
        known = _call_names(spec)
        yield from expression_mistakes((*path, "when"), law.when, known, FUNCTIONS)
        known = {**known, "outputs": ()}
        for name, call in law.calls.items():
            yield from _further_call(spec, (*path, "calls", name), call, known)
            known = {**known, name: ()}
        yield from expression_mistakes((*path, "holds"), law.holds, known, {**FUNCTIONS, **ARRAYS})


def _further_call(spec: Spec, path: SpecPath, call: FurtherCall, known: Known) -> Found:
    functions = {**FUNCTIONS, **BUILDERS, **ARRAYS}
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        given: Mapping[str, str] = getattr(call, part)
        for name, text in given.items():
            here = (*path, part, name)
            if call.operator in (None, spec.operator):
                names = [each.name for each in described]
                yield from unknown_name((*here, KEY), part.removesuffix("s"), name, names)
            yield from expression_mistakes(here, text, known, functions)


def _cases(spec: Spec) -> Found:
    table = spec.cases
    fixed = {**CONSTANTS, **spec.constants, **spec.type_sets}
    known: dict[str, tuple[str, ...]] = dict.fromkeys(fixed, ())
    for factor, levels in table.factors.items():
        yield from _levels(("cases", "factors", factor), levels, known, fixed)
        for profile, others in table.profiles.items():
            if factor in others:
                here = ("cases", "profiles", profile, factor)
                yield from _levels(here, others[factor], known, fixed)
        known[factor] = ()
    for profile, others in table.profiles.items():
        for factor in others:
            named: SpecPath = ("cases", "profiles", profile, factor, KEY)
            yield from unknown_name(named, "factor", factor, list(table.factors))
    known["level"] = tuple(table.factors)
    for key in ("unless", "masked"):
        for i, text in enumerate(getattr(table, key)):
            mistakes = list(expression_mistakes(("cases", key, i), text, known, FUNCTIONS))
            yield from mistakes
            if not mistakes and parse(text).names.isdisjoint((*table.factors, "level")):
                yield ("cases", key, i), f"{shown(text)} names no factor; expected one in it"
    yield from _draws(spec, known)
    yield from _seen(spec, fixed)


def _levels(path: SpecPath, levels: Levels, known: Known, fixed: Mapping[str, Any]) -> Found:
    if isinstance(levels, str):
        yield from _listed_levels(path, levels, fixed)
    elif not levels:
        yield path, f"the factor '{path[-1]}' has no levels"
    else:
        for level, text in levels.items():
            yield from expression_mistakes((*path, level), text, known, FUNCTIONS)


def _seen(spec: Spec, fixed: Mapping[str, Any]) -> Found:
    table, known = spec.cases, _call_names(spec)
    for name, text in table.seen_at.items():
        yield from expression_mistakes(("cases", "seen_at", name), text, known, FUNCTIONS)
        known = {**known, name: ()}
    for name, seen in table.seen.items():
        here: SpecPath = ("cases", "seen", name)
        if isinstance(seen, str):
            yield from expression_mistakes(here, seen, known, FUNCTIONS)
            # The value of a level is for comparing; what is no factor is for those behind it.
            known = known if name in table.factors else {**known, name: ()}
        elif name not in table.factors:
            yield from unknown_name((*here, KEY), "factor", name, list(table.factors))
        else:
            for level, text in seen.items():
                yield from expression_mistakes((*here, level), text, known, FUNCTIONS)
            yield from _unseen_levels(spec, here, name, fixed)


def _unseen_levels(spec: Spec, path: SpecPath, factor: str, fixed: Mapping[str, Any]) -> Found:
    """Yield a mistake for each level of `factor` that 'seen' leaves out, or that is none."""
    seen, levels = spec.cases.seen[factor], list[str]()
    for profile in ("core", *spec.cases.profiles):
        found = spec.cases.levels(profile)[factor]
        try:
            levels += evaluate(parse(found), fixed, FUNCTIONS) if isinstance(found, str) else found
        except (ExpressionError, Inapplicable, TypeError):
            return
    for level in dict.fromkeys(map(str, levels)):
        if level not in seen:
            yield path, f"does not say when the level '{level}' shows"
    for level in seen:
        yield from unknown_name((*path, level, KEY), "level", level, [str(each) for each in levels])


def _listed_levels(path: SpecPath, text: str, fixed: Mapping[str, Any]) -> Found:
    """Check an expression that lists levels: it stands alone, so its value shows at once."""
    mistakes = list(expression_mistakes(path, text, dict.fromkeys(fixed, ()), FUNCTIONS))
    yield from mistakes
    if mistakes:
        return
    try:
        levels = evaluate(parse(text), fixed, FUNCTIONS)
    except (ExpressionError, Inapplicable) as error:
        yield path, str(error)
        return
    if not (isinstance(levels, tuple | range) and levels):
        found = f"{shown(text)} is {shown(levels)}"
        yield path, f"{found}; expected a list of levels, or a mapping that names each"


def _draws(spec: Spec, factors: Known) -> Found:
    table, drawn = spec.cases, dict(factors)
    for name, text in table.draw.items():
        here = ("cases", "draw", name)
        yield from expression_mistakes(here, text, drawn, {**FUNCTIONS, **SAMPLERS})
        drawn[name] = ()
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        known = [each.name for each in described]
        given: Mapping[str, str] = getattr(table, part)
        for name, text in given.items():
            here = ("cases", part, name)
            yield from unknown_name((*here, KEY), part.removesuffix("s"), name, known)
            yield from expression_mistakes(here, text, drawn, {**FUNCTIONS, **BUILDERS})
        for each in described:
            if each.name not in given:
                yield ("cases", part), f"'{each.name}' is not drawn; expected an expression for it"
