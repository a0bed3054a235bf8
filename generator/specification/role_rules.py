"""Roles -> rules: the requirements that follow from roles, where the spec gives their clause."""

from typing import Any

from opcert.errors import did_you_mean
from opcert.roles import DerivedAmbiguity, Requirement, Role, Signature
from opcert.specification.model import Rule, Spec
from opcert.specification.naming import Found, unknown_name

# The arguments that have to be given: what a document need not say, where a call cannot omit one.
REQUIRED = "required"


def role_mistakes(spec: Spec) -> Found:
    """Yield what is wrong with roles beside each other; the rest needs them to be right."""
    wrong_relations = [*_relation_mistakes(spec)]
    yield from wrong_relations or _mistakes_among_others(spec)


def _mistakes_among_others(spec: Spec) -> Found:
    """Yield what roles find wrong themselves, once what they name of each other is right."""
    signature = Signature(
        {each.name: each for each in spec.arguments}, spec.type_sets, spec.constants
    )
    for role in spec.bound_roles:
        role.bind_to(signature)
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, argument in enumerate(described):
            if isinstance(argument, Role):
                for key, text in argument.mistakes():
                    yield (part, i, key), text


def _relation_mistakes(spec: Spec) -> Found:
    """Yield where a role names an argument that there is not, or one of another role."""
    arguments = {each.name: each for each in spec.arguments}
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        for i, role in enumerate(described):
            if not isinstance(role, Role):
                continue
            for key, kinds in role.relations.items():
                named = getattr(role, key)
                for j, name in enumerate(named if isinstance(named, tuple) else (named,)):
                    if name is None:
                        continue
                    path = (part, i, key, j) if isinstance(named, tuple) else (part, i, key)
                    other = arguments.get(name)
                    if other is None:
                        yield from unknown_name(path, "argument", name, [*arguments])
                    elif not isinstance(other, Role) or other.role not in kinds:
                        yield path, f"'{name}' does not have the role {' or '.join(kinds)}"


def complete_from_roles(spec: Spec) -> Spec:
    """Return the spec with its roles bound to each other and its rules completed from them."""
    if not spec.bound_roles:
        return spec
    signature = Signature(
        {each.name: each for each in spec.arguments}, spec.type_sets, spec.constants
    )
    roles = {role.name: role.bound_to(signature) for role in spec.bound_roles}
    # Bound once more, so that each finds the others with their ranks and ranges.
    arguments = {each.name: roles.get(each.name, each) for each in spec.arguments}
    signature = Signature(arguments, spec.type_sets, spec.constants)
    for role in roles.values():
        role.bind_to(signature)
    spec = spec.with_parts(
        inputs=tuple(roles.get(each.name, each) for each in spec.inputs),
        attributes=tuple(roles.get(each.name, each) for each in spec.attributes),
    )
    requirements = derived_requirements(spec)
    ids = {rule.derived: rule.id for rule in spec.rules if rule.derived is not None}
    rules = [
        _completed(rule, requirements[rule.derived], ids) if rule.derived in requirements else rule
        for rule in spec.rules
    ]
    questions = derived_ambiguities(spec)
    ambiguities = [
        each.model_copy(update={"touches": questions[each.derived].touches})
        if each.derived in questions and not each.touches
        else each
        for each in spec.ambiguities
    ]
    return spec.with_parts(rules=tuple(rules), ambiguities=tuple(ambiguities))


def derived_ambiguities(spec: Spec) -> dict[str, DerivedAmbiguity]:
    """Return what the roles of a spec leave open, by key."""
    return {each.key: each for role in spec.bound_roles for each in role.ambiguities()}


def derived_requirements(spec: Spec) -> dict[str, Requirement]:
    """Return what the roles of a spec require, by key."""
    names = [each.name for each in spec.arguments if each.required]
    listed = " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
    text = f"{listed} {'have' if len(names) > 1 else 'has'} to be given."
    holds = f"all(name not in omitted for name in {names})"
    found = [Requirement(REQUIRED, text, holds)] if spec.bound_roles else []
    found += [each for role in spec.bound_roles for each in role.requirements()]
    return {each.key: each for each in found}


def _completed(rule: Rule, requirement: Requirement, ids: dict[str, str]) -> Rule:
    given = tuple(ids[key] for key in requirement.prerequisites if key in ids)
    derived: dict[str, Any] = {
        "kind": "requirement",
        "given": given,
        "text": _sentence(requirement.text),
    }
    derived |= {"when": requirement.when, "holds": requirement.holds}
    # What the spec writes itself goes before.
    written = rule.model_fields_set - {"kind"}
    return rule.model_copy(
        update={key: value for key, value in derived.items() if key not in written}
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def rule_mistakes(spec: Spec) -> Found:
    """Yield where rules and what roles require do not fit."""
    known = derived_requirements(spec)
    stated = {rule.derived for rule in spec.rules}
    for i, rule in enumerate(spec.rules):
        if rule.derived is not None and rule.derived not in known:
            near = did_you_mean(rule.derived, [*known])
            yield ("rules", i, "from"), f"no role requires '{rule.derived}'{near}"
        elif rule.derived is None and not rule.text:
            yield ("rules", i, "id"), f"rule '{rule.id}' has no text; expected the key 'text'"
    for key, requirement in known.items():
        if key not in stated and key != REQUIRED:
            text = f"no rule states '{key}': {requirement.text}"
            yield ("rules",), f"{text}; expected a rule with 'from: {key}' and its clause"
    yield from _ambiguity_mistakes(spec)


def _ambiguity_mistakes(spec: Spec) -> Found:
    """Yield where ambiguities and what roles leave open do not fit."""
    questions = derived_ambiguities(spec)
    for i, each in enumerate(spec.ambiguities):
        if each.derived is not None and each.derived not in questions:
            near = did_you_mean(each.derived, [*questions])
            yield ("ambiguities", i, "from"), f"no role leaves '{each.derived}' open{near}"
        elif each.derived is None and not each.touches:
            text = f"ambiguity '{each.id}' has no condition; expected the key 'touches'"
            yield ("ambiguities", i, "id"), text
    for key in questions.keys() - {each.derived for each in spec.ambiguities}:
        text = f"no ambiguity states '{key}': {questions[key].text}"
        # There may be no ambiguities at all.
        yield ("inputs",), f"{text}; expected one with 'from: {key}' and its readings"
