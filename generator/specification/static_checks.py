"""The checks of a spec that need no call: names, ids, types, expressions, examples."""

from collections.abc import Collection, Iterable

from pydantic import JsonValue

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, fits
from opcert.arrays.tensor_functions import LAW_FUNCTIONS, TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.errors import abbreviate, did_you_mean
from opcert.roles.argument import Argument, Attribute, is_plain_value
from opcert.roles.role import Role
from opcert.specification.elements import FORMULA_FUNCTIONS
from opcert.specification.expressions import (
    EXPRESSION_CONSTANTS,
    EXPRESSION_FUNCTIONS,
    DocumentedTensor,
)
from opcert.specification.model import (
    Example,
    KnownNames,
    LawCall,
    Mistakes,
    Output,
    Rule,
    Spec,
    Violations,
    expression_mistakes,
    is_misspelt_as,
    unknown_name,
)
from opcert.yaml_files import KEY_STEP, YamlPath

# Some arguments only change together: a count and the counted list, or parallel lists.
_MAX_CHANGED_ARGUMENTS = 6
_MAX_EXAMPLE_ELEMENTS = 10**6


def static_mistakes(spec: Spec) -> Mistakes:
    """Yield each mistake that is no mistake of a role, with the path to it."""
    yield from _type_mistakes(spec)
    yield from _name_mistakes(spec)
    yield from _named_value_mistakes(spec)
    yield from _argument_mistakes(spec)
    yield from _output_mistakes(spec)
    yield from _rule_mistakes(spec)
    yield from _ambiguity_mistakes(spec)
    yield from _erratum_mistakes(spec)
    yield from _law_mistakes(spec)
    yield from _example_mistakes(spec)


# -- types, names, arguments, outputs


def _type_mistakes(spec: Spec) -> Mistakes:
    for symbol, types in spec.type_sets.items():
        yield from _unknown_in(("types", symbol), "element type", types, ELEMENT_TYPES)
    # An output with a type symbol takes its type from an input that is always present.
    symbols = list(dict.fromkeys(argument.type for argument in spec.inputs if argument.required))
    for i, output in enumerate(spec.outputs):
        here: YamlPath = ("outputs", i, "type")
        if output.type in {*symbols, *ELEMENT_TYPES}:
            continue
        if output.type.isidentifier() and output.type not in spec.call_names.keys() - spec.types:
            text = f"no required input has the type symbol '{output.type}'"
            yield here, f"{text}{did_you_mean(output.type, symbols)}"
        else:
            yield from expression_mistakes(here, output.type, {**spec.call_names, "i": ()})
    for i, level in enumerate(spec.feature_levels):
        here = ("feature_levels", i, "types")
        yield from _unknown_in(here, "element type", level.types, ELEMENT_TYPES)


def _unknown_in(path: YamlPath, kind: str, names: Iterable[str], known: Iterable[str]) -> Mistakes:
    """Yield a mistake for each of the names in the list at `path` that is not known."""
    for i, name in enumerate(names):
        yield from unknown_name((*path, i), kind, name, known)


def _taken_name(path: YamlPath, name: str, taken: Collection[str]) -> Mistakes:
    """Yield a mistake if `name` is among the names that are `taken`."""
    if name in taken:
        yield path, f"'{name}' already has a meaning in expressions; choose another name"


def _name_mistakes(spec: Spec) -> Mistakes:
    arguments: list[tuple[YamlPath, str]] = [
        ((*path, "name"), argument.name) for path, argument in spec.located_arguments
    ]
    identified = list(arguments)
    for key in ("rules", "ambiguities", "errata", "laws", "examples"):
        identified += [((key, i, "id"), part.id) for i, part in enumerate(getattr(spec, key))]
    first: dict[str, YamlPath] = {}
    for path, name in identified:
        if first.setdefault(name, path) != path:
            yield path, f"duplicate id '{name}'; ids and names of arguments must be unique"
    constants = {*EXPRESSION_CONSTANTS, *spec.constants, *spec.types}
    for path, name in arguments:
        yield from _taken_name(path, name, {*constants, "omitted", "outputs", "i"})


def _named_value_mistakes(spec: Spec) -> Mistakes:
    known = {**spec.with_parts(names={}).call_names}
    for name, text in spec.names.items():
        yield from _taken_name(("names", name, KEY_STEP), name, {*known, "outputs", "i", "at"})
        yield from expression_mistakes(("names", name), text, known)
        known[name] = ()


def _argument_mistakes(spec: Spec) -> Mistakes:
    known = spec.call_names
    for path, argument in spec.located_arguments:
        yield from _variadic_mistakes((*path, "variadic"), argument)
        for key in ("rank", "range"):
            for j, bound in enumerate(getattr(argument, key, None) or ()):
                yield from expression_mistakes((*path, key, j), bound, known)
        extents = getattr(argument, "extents", None)
        if isinstance(extents, str):
            yield from expression_mistakes((*path, "extents"), extents, known)
    for i, attribute in enumerate(spec.attributes):
        if attribute.range is not None and attribute.type != "int":
            text = f"'range' of an attribute of type {attribute.type}; only integers have a range"
            yield ("attributes", i, "range", KEY_STEP), text
        if attribute.elements is not None and attribute.type != "list":
            text = f"'elements' of an attribute of type {attribute.type}; only lists have elements"
            yield ("attributes", i, "elements", KEY_STEP), text
        if attribute.default is not None:
            here = ("attributes", i, "default")
            yield from _value_mistakes(here, attribute, attribute.default)


def _variadic_mistakes(path: YamlPath, argument: Argument) -> Mistakes:
    if argument.variadic is None:
        return
    least, most = argument.variadic
    if not argument.can_be_variadic:
        text = f"'variadic' of '{argument.name}'; only an input of the role 'tensors', or without a"
        yield (*path, KEY_STEP), f"{text} role, can be a list of tensors"
    elif not 0 <= least <= most:
        yield path, f"from {least} to {most} tensors; expected the least number, then the greatest"


def _value_mistakes(path: YamlPath, attribute: Attribute | Role, value: JsonValue) -> Mistakes:
    """Yield a mistake if an attribute cannot have `value`."""
    if not is_plain_value(value, attribute.type):
        yield path, f"found {abbreviate(value)}; expected a value of type {attribute.type}"
        return
    values = [(path, value)]
    if isinstance(value, list) and attribute.elements is not None:
        values = [((*path, i), element) for i, element in enumerate(value)]
        for here, element in values:
            if not is_plain_value(element, attribute.elements):
                text = f"found {abbreviate(element)}; expected an element of type"
                yield here, f"{text} {attribute.elements}"
                return
    if attribute.one_of is not None:
        for here, element in values:
            yield from unknown_name(here, "value", str(element), map(str, attribute.one_of))


def _output_mistakes(spec: Spec) -> Mistakes:
    known = spec.call_names
    numbered = {**known, "i": ()}
    for i, output in enumerate(spec.outputs):
        yield from expression_mistakes(("outputs", i, "count"), output.count, known)
        yield from expression_mistakes(("outputs", i, "shape"), output.shape, numbered)
        yield from _formula_mistakes(("outputs", i), output, numbered)


def _formula_mistakes(path: YamlPath, output: Output, numbered: KnownNames) -> Mistakes:
    if output.element is None:
        if output.where:
            yield (*path, "where", KEY_STEP), "'where' without 'element'; expected the formula"
        return
    if "at" in numbered:
        text = "an argument is named 'at', which is the index in a formula; rename the argument"
        yield (*path, "element", KEY_STEP), text
    known = {**numbered, "at": ()}
    for name, text in output.where.items():
        yield from _taken_name((*path, "where", name, KEY_STEP), name, known)
        yield from expression_mistakes((*path, "where", name), text, known, FORMULA_FUNCTIONS)
        known[name] = ()
    yield from expression_mistakes((*path, "element"), output.element, known, FORMULA_FUNCTIONS)
    for number, text in enumerate(output.forms):
        yield from expression_mistakes((*path, "forms", number), text, known, FORMULA_FUNCTIONS)
    yield from expression_mistakes((*path, "open"), output.open, known, FORMULA_FUNCTIONS)
    for key in ("forms", "open"):
        if key in output.model_fields_set and not output.computed:
            yield (*path, key, KEY_STEP), f"'{key}' without 'computed: true'"


# -- rules, ambiguities, errata


def _rule_mistakes(spec: Spec) -> Mistakes:
    known = spec.call_names
    for i, rule in enumerate(spec.rules):
        path = ("rules", i)
        yield from expression_mistakes((*path, "when"), rule.when, known)
        is_requirement = rule.kind == "requirement"
        if is_requirement:
            if rule.holds is None:
                text = f"requirement '{rule.id}' has no condition; expected the key 'holds'"
                yield (*path, "id"), text
            yield from _violation_mistakes(spec, (*path, "violations"), rule.violations)
            # The rules that follow from roles may be in any order.
            earlier = _requirement_ids(spec.rules if rule.derived else spec.rules[:i])
            here = (*path, "prerequisites")
            yield from _unknown_in(here, "earlier requirement", rule.prerequisites, earlier)
        # Without a text it may lack its `from`; with an unknown one, it is a requirement.
        elif rule.text and rule.derived is None:
            for key in ("violations", "prerequisites"):
                if getattr(rule, key):
                    text = f"'{key}' in a behaviour; only requirements can be violated"
                    yield (*path, key, KEY_STEP), text
        if rule.holds is not None:
            names = known if is_requirement else {**known, "outputs": ()}
            yield from expression_mistakes((*path, "holds"), rule.holds, names)


def _requirement_ids(rules: Iterable[Rule]) -> list[str]:
    """Return the ids of requirements, also of rules whose `from` is unknown or missing."""
    return [
        rule.id
        for rule in rules
        if rule.kind == "requirement" or rule.derived is not None or not rule.text
    ]


def _violation_mistakes(spec: Spec, path: YamlPath, violations: Violations) -> Mistakes:
    arguments = [argument.name for argument in spec.arguments]
    functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **TENSOR_CHANGES}
    for name, change in violations.items():
        if not 1 <= len(change) <= _MAX_CHANGED_ARGUMENTS and path[0] == "rules":
            expected = f"expected one, or up to {_MAX_CHANGED_ARGUMENTS} that belong together"
            yield (*path, name), f"changes {len(change)} arguments; {expected}"
        for argument, text in change.items():
            here = (*path, name, argument)
            yield from unknown_name((*here, KEY_STEP), "input or attribute", argument, arguments)
            yield from expression_mistakes(here, text, spec.call_names, functions)


def _ambiguity_mistakes(spec: Spec) -> Mistakes:
    for i, ambiguity in enumerate(spec.ambiguities):
        path = ("ambiguities", i)
        if bool(ambiguity.elements) == bool(ambiguity.readings):
            problem = "both" if ambiguity.elements else "neither"
            yield (*path, "id"), f"{problem} 'readings' and 'elements'; expected one of them"
        if ambiguity.elements and (ambiguity.breaks or ambiguity.violations):
            key = "breaks" if ambiguity.breaks else "violations"
            yield (*path, key), f"'{key}' with 'elements'; a call with open elements is valid"
        if ambiguity.elements and not any(output.has_candidates for output in spec.outputs):
            text = "'elements' without 'one_of' in the 'element' of an output"
            yield (*path, "elements"), f"{text}; expected the candidates there"
        if ambiguity.touches:
            yield from expression_mistakes((*path, "touches"), ambiguity.touches, spec.call_names)
        for j, name in enumerate(ambiguity.breaks):
            here = (*path, "breaks", j)
            known = _requirement_ids(spec.rules)
            if name in spec.behaviours and name not in known:
                yield here, f"rule '{name}' is a behaviour; expected a requirement"
            else:
                yield from unknown_name(here, "requirement", name, known)
        yield from _violation_mistakes(spec, (*path, "violations"), ambiguity.violations)


def _erratum_mistakes(spec: Spec) -> Mistakes:
    parts = ("rules", "ambiguities", "examples")
    known = [part.id for key in parts for part in getattr(spec, key)]
    for i, erratum in enumerate(spec.errata):
        path = ("errata", i, "affects")
        yield from _unknown_in(path, "rule, ambiguity or example", erratum.affects, known)


# -- laws


def _law_mistakes(spec: Spec) -> Mistakes:
    for i, law in enumerate(spec.laws):
        path = ("laws", i)
        known = spec.call_names
        yield from expression_mistakes((*path, "when"), law.when, known)
        known = {**known, "outputs": ()}
        for name, call in law.calls.items():
            here = (*path, "calls", name)
            yield from _taken_name((*here, KEY_STEP), name, known)
            yield from _law_call_mistakes(spec, here, call, known)
            known = {**known, name: ()}
        functions = {**EXPRESSION_FUNCTIONS, **LAW_FUNCTIONS}
        yield from expression_mistakes((*path, "holds"), law.holds, known, functions)


def _law_call_mistakes(spec: Spec, path: YamlPath, call: LawCall, known: KnownNames) -> Mistakes:
    functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **LAW_FUNCTIONS}
    for part, kind, arguments, expressions in (
        ("inputs", "input", spec.inputs, call.inputs),
        ("attributes", "attribute", spec.attributes, call.attributes),
    ):
        for name, text in expressions.items():
            here = (*path, part, name)
            # The arguments of another operator are checked when the law is.
            if call.operator in (None, spec.operator):
                names = [argument.name for argument in arguments]
                yield from unknown_name((*here, KEY_STEP), kind, name, names)
            yield from expression_mistakes(here, text, known, functions)


# -- examples


def _example_mistakes(spec: Spec) -> Mistakes:
    for i, example in enumerate(spec.examples):
        path = ("examples", i)
        yield from _example_argument_mistakes(spec, example, path)
        variadic = {argument.name: argument.variadic is not None for argument in spec.inputs}
        for name, value in example.inputs.items():
            here: YamlPath = (*path, "inputs", name)
            is_list = isinstance(value, tuple)
            if is_list != variadic.get(name, is_list):
                is_not, expected = ("not ", "one tensor") if is_list else ("", "a list of tensors")
                yield here, f"'{name}' is {is_not}variadic; expected {expected}"
                continue
            for k, tensor in enumerate(value if isinstance(value, tuple) else [value]):
                yield from _tensor_mistakes((*here, k) if is_list else here, tensor)
        for j, tensor in enumerate(example.outputs):
            yield from _tensor_mistakes((*path, "outputs", j), tensor)


def _example_argument_mistakes(spec: Spec, example: Example, path: YamlPath) -> Mistakes:
    for part, kind, arguments, values in (
        ("inputs", "input", spec.inputs, example.inputs),
        ("attributes", "attribute", spec.attributes, example.attributes),
    ):
        known = [argument.name for argument in arguments]
        for name in values:
            yield from unknown_name((*path, part, name, KEY_STEP), kind, name, known)
        missing = [
            f"'{argument.name}'"
            for argument in arguments
            if argument.required and argument.name not in values
            if not is_misspelt_as(argument.name, values, known)
        ]
        if missing:
            kinds = kind if len(missing) == 1 else part
            yield (*path, part), f"missing required {kinds} {', '.join(missing)}"
    for attribute in spec.attributes:
        if attribute.name in example.attributes:
            here = (*path, "attributes", attribute.name)
            yield from _value_mistakes(here, attribute, example.attributes[attribute.name])


def _tensor_mistakes(path: YamlPath, tensor: DocumentedTensor) -> Mistakes:
    if tensor.type not in ELEMENT_TYPES:
        # The range of an unknown type is unknown.
        yield from unknown_name(path, "element type", tensor.type, ELEMENT_TYPES)
        return
    if tensor.size > _MAX_EXAMPLE_ELEMENTS:
        expected = f"expected sizes for at most {_MAX_EXAMPLE_ELEMENTS} elements"
        yield path, f"found the shape {list(tensor.shape)}; {expected}"
    if tensor.element is not None:
        yield from expression_mistakes(path, tensor.element, {"i": ()})
    for value in tensor.values or ():
        if not _is_of_type(value, tensor.type):
            yield path, f"found {value}; expected a value of {tensor.type}"
    if tensor.values is not None and len(tensor.values) != tensor.size:
        counts = f"{len(tensor.values)} values for the shape {list(tensor.shape)}"
        yield path, f"{counts}; expected {tensor.size}"


def _is_of_type(value: bool | int | float, element_type: str) -> bool:
    if element_type == "boolean":
        return value in (0, 1)
    return element_type not in INTEGERS or (type(value) is int and fits(element_type, value))
