"""Requirements and ambiguities that follow from roles, and arguments without a role."""

from collections.abc import Collection, Sequence
from typing import Any

from opcert.errors import did_you_mean, listed
from opcert.roles.argument import Attribute
from opcert.roles.role import DerivedAmbiguity, Requirement, Role, Signature
from opcert.specification.model import (
    Ambiguity,
    KnownNames,
    Mistakes,
    Rule,
    Spec,
    expression_mistakes,
    is_misspelt_as,
    unknown_name,
)

# The requirement that required arguments are present. The document of a C interface need not state
# it, since a call in C cannot omit an argument.
REQUIRED = "required"


def role_mistakes(spec: Spec) -> Mistakes:
    """Yield the mistakes in roles; all other checks rely on correct roles."""
    mistakes = [*_relation_mistakes(spec)]
    for i, argument in enumerate(spec.inputs):
        here = ("inputs", i, "type")
        mistakes += unknown_name(here, "type symbol", argument.type, spec.types)
    if not mistakes:
        _bind_roles(spec)
        for path, role in _roles_with_paths(spec):
            mistakes += [((*path, key), text) for key, text in role.mistakes()]
    yield from mistakes


def _bind_roles(spec: Spec) -> None:
    """Set the signature of each role."""
    arguments = {argument.name: argument for argument in spec.arguments}
    computed_types = [output.type for output in spec.outputs if output.computed]
    signature = Signature(arguments, spec.type_sets, spec.constants, computed_types)
    for role in spec.bound_roles:
        role.bind_to(signature)


def _roles_with_paths(spec: Spec) -> list[tuple[tuple[str, int], Role]]:
    return [(path, role) for path, role in spec.located_arguments if isinstance(role, Role)]


def _relation_mistakes(spec: Spec) -> Mistakes:
    """Yield each relation of a role to an unknown argument, or to one with the wrong role."""
    arguments = {argument.name: argument for argument in spec.arguments}
    for path, role in _roles_with_paths(spec):
        for key, expected in role.relations.items():
            name = getattr(role, key)
            if name is not None:
                yield from unknown_name((*path, key), "argument", name, arguments)
            if name in arguments and getattr(arguments[name], "role", None) not in expected:
                text = f"'{name}' does not have the role {' or '.join(expected)}"
                yield (*path, key), text


def complete_from_roles(spec: Spec) -> Spec:
    """Return the spec with its roles bound to each other and its rules completed from them."""
    _bind_roles(spec)
    roles = {role.name: role.completed() for role in spec.bound_roles}
    spec = spec.with_parts(
        inputs=tuple(roles.get(argument.name, argument) for argument in spec.inputs),
        attributes=tuple(roles.get(argument.name, argument) for argument in spec.attributes),
    )
    # Bound a second time, so that each role sees the others with their ranks and ranges.
    _bind_roles(spec)
    requirements = derived_requirements(spec)
    ids = {rule.derived: rule.id for rule in spec.rules if rule.derived is not None}
    rules = [
        _completed(rule, requirements[rule.derived], ids) if rule.derived in requirements else rule
        for rule in spec.rules
    ]
    derived = derived_ambiguities(spec)
    ambiguities = [
        ambiguity.model_copy(update={"touches": derived[ambiguity.derived].touches})
        if ambiguity.derived in derived and not ambiguity.touches
        else ambiguity
        for ambiguity in spec.ambiguities
    ]
    return spec.with_parts(rules=tuple(rules), ambiguities=tuple(ambiguities))


def _completed(rule: Rule, requirement: Requirement, ids: dict[str, str]) -> Rule:
    """Return a rule, with the fields that the spec omits taken from the requirement of a role."""
    derived: dict[str, Any] = {
        "kind": "requirement",
        "prerequisites": tuple(ids[key] for key in requirement.prerequisites if key in ids),
        "text": requirement.text[:1].upper() + requirement.text[1:],
        "when": requirement.when,
        "holds": requirement.holds,
    }
    written = rule.model_fields_set - {"kind"}
    return rule.model_copy(update={key: derived[key] for key in derived.keys() - written})


def derived_ambiguities(spec: Spec) -> dict[str, DerivedAmbiguity]:
    """Return the ambiguities that follow from the roles of a spec, by key.

    A requirement of a role that the document does not state is an ambiguity, too: whether the calls
    that break it are valid. It follows only if the spec has an ambiguity for it.
    """
    roles = spec.bound_roles
    derived = {ambiguity.key: ambiguity for role in roles for ambiguity in role.ambiguities()}
    requirements = derived_requirements(spec)
    stated = {rule.derived for rule in spec.rules}
    for ambiguity in spec.ambiguities:
        requirement = requirements.get(ambiguity.derived or "")
        if requirement is not None and requirement.key != REQUIRED:
            # The condition may rely on the prerequisites.
            relied_on = [key for key in requirement.prerequisites if key in stated]
            conditions = [requirement.when, *(requirements[key].holds for key in relied_on)]
            terms = [f"({condition})" for condition in conditions if condition != "True"]
            touches = " and ".join([*terms, f"not ({requirement.holds})"])
            text = f"whether calls are valid unless {requirement.text}"
            derived[requirement.key] = DerivedAmbiguity(requirement.key, text, touches)
    return derived


def derived_requirements(spec: Spec) -> dict[str, Requirement]:
    """Return the requirements that follow from the roles of a spec, by key."""
    if not spec.bound_roles:
        return {}
    names = [argument.name for argument in spec.arguments if argument.required]
    text = f"{listed(names)} {'have' if len(names) > 1 else 'has'} to be given."
    holds = f"all(name not in omitted for name in {names})"
    requirements = [Requirement(REQUIRED, text, holds)]
    for role in spec.bound_roles:
        requirements += role.requirements()
    return {requirement.key: requirement for requirement in requirements}


def derivation_mistakes(spec: Spec) -> Mistakes:
    """Yield each difference of the rules and ambiguities of a spec from those of its roles."""
    requirements, ambiguities = derived_requirements(spec), derived_ambiguities(spec)
    yield from _unknown_mistakes("rules", "requirement", spec.rules, requirements)
    yield from _unknown_mistakes("ambiguities", "ambiguity", spec.ambiguities, ambiguities)
    for i, rule in enumerate(spec.rules):
        if rule.derived is None and not rule.text:
            text = f"rule '{rule.id}' has no text; expected the key 'text', or 'from'"
            yield ("rules", i, "id"), text
    for i, ambiguity in enumerate(spec.ambiguities):
        if ambiguity.derived is None and not ambiguity.touches:
            text = f"ambiguity '{ambiguity.id}' has no condition; expected the key 'touches'"
            yield ("ambiguities", i, "id"), text
    questioned = {ambiguity.derived or "" for ambiguity in spec.ambiguities}
    stated = {rule.derived or "" for rule in spec.rules} | questioned
    # A rule without a text may be the missing rule, without its `from`.
    is_complete = all(rule.text or rule.derived is not None for rule in spec.rules)
    for key in requirements.keys() - stated - {REQUIRED} if is_complete else ():
        if not is_misspelt_as(key, stated, requirements):
            text = f"missing rule for '{key}' ({requirements[key].text.rstrip('.')})"
            yield ("rules",), f"{text}; expected one with 'from: {key}' and its clause"
    for key in ambiguities.keys() - questioned:
        if not is_misspelt_as(key, questioned, ambiguities):
            text = f"missing ambiguity for '{key}' ({ambiguities[key].text.rstrip('.')})"
            # The spec may have no ambiguities, and so no place for one.
            path = ("ambiguities",) if spec.ambiguities else ("inputs",)
            yield path, f"{text}; expected one with 'from: {key}' and its readings"


def _unknown_mistakes(
    part: str, kind: str, entries: Sequence[Rule | Ambiguity], derived: Collection[str]
) -> Mistakes:
    """Yield each `from` that names what no role has."""
    for i, entry in enumerate(entries):
        if entry.derived is not None and entry.derived not in derived:
            near = did_you_mean(entry.derived, [*derived])
            yield (part, i, "from"), f"no role has the {kind} '{entry.derived}'{near}"


def value_mistakes(spec: Spec) -> Mistakes:
    """Yield each argument that nothing draws: it has no role, and no value in its place."""
    arguments = spec.call_names
    known: KnownNames = {
        **dict.fromkeys(spec.fixed_names, ()),
        **{role.name: arguments[role.name] for role in spec.bound_roles},
    }
    for path, argument in spec.located_arguments:
        if isinstance(argument, Attribute) and argument.value is not None:
            yield from expression_mistakes((*path, "value"), argument.value, known)
        elif isinstance(argument, Attribute):
            text = f"'{argument.name}' has neither a role nor a value"
            yield (*path, "name"), f"{text}; expected the key 'role' or 'value'"
        elif not isinstance(argument, Role):
            yield (*path, "name"), f"'{argument.name}' has no role; expected the key 'role'"
