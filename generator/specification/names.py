"""What a spec names: every id, type, input and expression must be known where it stands."""

from collections import Counter

from pydantic import JsonValue

from opcert.arrays import ELEMENT_TYPES, TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.errors import did_you_mean
from opcert.roles import Attribute, Role
from opcert.specification.expressions import (
    EXPRESSION_CONSTANTS,
    EXPRESSION_FUNCTIONS,
    abbreviate,
)
from opcert.specification.law_names import law_mistakes
from opcert.specification.model import Output, Rule, Spec, Violations
from opcert.specification.naming import (
    Found,
    Known,
    call_names,
    expression_mistakes,
    unknown_name,
)
from opcert.specification.table_names import table_mistakes
from opcert.yaml_files import KEY_STEP, YamlPath

# Some arguments only change together: a number of things and the list of them, or lists whose
# elements belong together.
_MOST_CHANGED = 4
_ATTRIBUTE_TYPES = {"int": int, "string": str, "list": list}


def name_mistakes(spec: Spec) -> list[tuple[YamlPath, str]]:
    """Return each mistake with the path to it; reads names alone, draws nothing."""
    return [
        *_types(spec),
        *_repeated_ids(spec),
        *_shadowing_names(spec),
        *_ranges_and_outputs(spec),
        *_rules(spec),
        *_ambiguities(spec),
        *_errata(spec),
        *law_mistakes(spec),
        *table_mistakes(spec),
    ]


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


def element_type_mistakes(path: YamlPath, name: str) -> Found:
    """Yield a mistake where there is no element type `name`."""
    yield from unknown_name(path, "element type", name, list(ELEMENT_TYPES))


def _argument_names(spec: Spec) -> list[tuple[YamlPath, str]]:
    return [
        *((("inputs", i, "name"), each.name) for i, each in enumerate(spec.inputs)),
        *((("attributes", i, "name"), each.name) for i, each in enumerate(spec.attributes)),
    ]


def _repeated_ids(spec: Spec) -> Found:
    named = _argument_names(spec)
    for key in ("rules", "ambiguities", "errata", "laws", "examples"):
        named += [((key, i, "id"), each.id) for i, each in enumerate(getattr(spec, key))]
    times = Counter(name for _, name in named)
    for path, name in named:
        if times[name] > 1:
            yield path, f"'{name}' stands {times[name]} times; expected a name of its own"


def _shadowing_names(spec: Spec) -> Found:
    fixed = {
        *EXPRESSION_CONSTANTS,
        *spec.constants,
        *spec.types,
        "omitted",
        "outputs",
        "level",
        "i",
    }
    named = _argument_names(spec)
    for key in ("factors", "draw"):
        named += [(("cases", key, name, KEY_STEP), name) for name in getattr(spec.cases, key)]
    for path, name in named:
        if name in fixed:
            yield path, f"'{name}' already means something else in expressions; expected another"


def _ranges_and_outputs(spec: Spec) -> Found:
    known = call_names(spec)
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, each in enumerate(described):
            if part == "attributes" and each.range is not None and each.type != "int":
                yield (
                    (part, i, "range", KEY_STEP),
                    f"'range' of a {each.type}; only integers have one",
                )
            for key in ("rank", "range"):
                for j, end in enumerate(getattr(each, key, None) or ()):
                    yield from expression_mistakes(
                        (part, i, key, j), end, known, EXPRESSION_FUNCTIONS
                    )
    for i, attribute in enumerate(spec.attributes):
        if attribute.default is not None:
            yield from attribute_mistakes(
                ("attributes", i, "default"), attribute, attribute.default
            )
    for i, output in enumerate(spec.outputs):
        yield from expression_mistakes(
            ("outputs", i, "count"), output.count, known, EXPRESSION_FUNCTIONS
        )
        numbered = {**known, "i": ()}
        yield from expression_mistakes(
            ("outputs", i, "shape"), output.shape, numbered, EXPRESSION_FUNCTIONS
        )
        yield from _formula(("outputs", i), output, numbered)


def _formula(path: YamlPath, output: Output, numbered: Known) -> Found:
    if output.element is None:
        if output.where:
            yield (*path, "where", KEY_STEP), "'where' without 'element'; expected the formula"
        return
    if "at" in numbered:
        text = "'at' is an input or an attribute; a formula means the index by it"
        yield (*path, "element", KEY_STEP), text
    known = {**numbered, "at": ()}
    for name, text in output.where.items():
        if name in known:
            mistake = f"'{name}' already means something else in expressions; expected another"
            yield (*path, "where", name, KEY_STEP), mistake
        yield from expression_mistakes((*path, "where", name), text, known, EXPRESSION_FUNCTIONS)
        known[name] = ()
    yield from expression_mistakes((*path, "element"), output.element, known, EXPRESSION_FUNCTIONS)


def attribute_mistakes(path: YamlPath, attribute: Attribute | Role, value: JsonValue) -> Found:
    """Yield a mistake where `value` is none of the attribute."""
    wanted = _ATTRIBUTE_TYPES[attribute.type]
    if not isinstance(value, wanted) or isinstance(value, bool):
        yield path, f"found {abbreviate(value)}; expected an attribute of type {attribute.type}"
    elif attribute.one_of is not None and value not in attribute.one_of:
        yield from unknown_name(path, "value", str(value), list(attribute.one_of))


def _rules(spec: Spec) -> Found:
    known = call_names(spec)
    for i, rule in enumerate(spec.rules):
        path = ("rules", i)
        yield from expression_mistakes((*path, "when"), rule.when, known, EXPRESSION_FUNCTIONS)
        if rule.kind == "requirement":
            yield from _requirement(spec, rule, path, known)
        else:
            yield from _behaviour(rule, path, known)
        earlier = [each.id for each in spec.rules[:i] if each.kind == "requirement"]
        # What follows from roles may stand in any order.
        known_rules = [*spec.requirements] if rule.derived else earlier
        for j, name in enumerate(rule.given if rule.kind == "requirement" else ()):
            yield from unknown_name((*path, "given", j), "earlier requirement", name, known_rules)


def _requirement(spec: Spec, rule: Rule, path: YamlPath, known: Known) -> Found:
    if rule.holds is None:
        text = f"requirement '{rule.id}' has no condition; expected the key 'holds'"
        yield (*path, "id"), text
    else:
        yield from expression_mistakes((*path, "holds"), rule.holds, known, EXPRESSION_FUNCTIONS)
    if rule.violations and rule.unbreakable is not None:
        text = "'unbreakable' beside 'violations'; expected one of them"
        yield (*path, "unbreakable", KEY_STEP), text
    yield from _violations(spec, (*path, "violations"), rule.violations)


def _behaviour(rule: Rule, path: YamlPath, known: Known) -> Found:
    for key in ("violations", "unbreakable", "given"):
        if getattr(rule, key):
            yield (
                (*path, key, KEY_STEP),
                f"'{key}' in a behaviour; only a requirement can be broken",
            )
    if rule.holds is not None:
        with_outputs = {**known, "outputs": ()}
        yield from expression_mistakes(
            (*path, "holds"), rule.holds, with_outputs, EXPRESSION_FUNCTIONS
        )


def _violations(spec: Spec, path: YamlPath, violations: Violations) -> Found:
    arguments = [each.name for each in spec.arguments]
    functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **TENSOR_CHANGES}
    for name, change in violations.items():
        if not 1 <= len(change) <= _MOST_CHANGED and path[0] == "rules":
            expected = f"expected one, or up to {_MOST_CHANGED} that only go together"
            yield (*path, name), f"{len(change)} arguments change; {expected}"
        for target, text in change.items():
            here = (*path, name, target)
            yield from unknown_name((*here, KEY_STEP), "input or attribute", target, arguments)
            yield from expression_mistakes(here, text, call_names(spec), functions)


def _ambiguities(spec: Spec) -> Found:
    for i, each in enumerate(spec.ambiguities):
        path = ("ambiguities", i)
        if each.touches:
            yield from expression_mistakes(
                (*path, "touches"), each.touches, call_names(spec), EXPRESSION_FUNCTIONS
            )
        for j, name in enumerate(each.breaks):
            requirements = list(spec.requirements)
            yield from unknown_name((*path, "breaks", j), "requirement", name, requirements)
        yield from _violations(spec, (*path, "violations"), each.violations)


def _errata(spec: Spec) -> Found:
    known = [each.id for each in spec.rules]
    known += [each.id for each in spec.ambiguities]
    known += [each.id for each in spec.examples]
    for i, erratum in enumerate(spec.errata):
        for j, name in enumerate(erratum.affects):
            what = "rule, ambiguity or example"
            yield from unknown_name(("errata", i, "affects", j), what, name, known)
