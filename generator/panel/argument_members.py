"""Members that ignore arguments, take words for others, or leave a requirement unchecked."""

from collections.abc import Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from opcert.arrays import Array
from opcert.panel.member import (
    ArrayCall,
    Member,
    Outputs,
    Right,
    Signature,
    changing,
    changing_checked,
    rejecting,
)
from opcert.reference import RuleBroken, unchecked
from opcert.roles import Attribute, Role


def requirement_members(signature: Signature) -> Iterator[Member]:
    """Yield, for each requirement, members that do not check it."""
    spec = signature.spec
    for rule in spec.requirements.values():
        if rule.unbreakable is None:
            full_id = spec.full_id(rule.id)
            yield Member(
                f"{rule.id}-unchecked",
                f"a call that breaks only {full_id} is accepted",
                partial(_answer, partial(_accepting, full_id)),
                rule=full_id,
            )
            yield Member(
                f"{rule.id}-computed",
                f"{full_id} is unchecked, and what can be computed without the check is returned",
                partial(_answer, partial(_computing, full_id)),
                rule=full_id,
            )


def _answer(answer: Any) -> Any:
    return answer


def _accepting(rule: str, call: ArrayCall, right: Right) -> Outputs | None:
    """Return what the reference computes without a check, or an element where it cannot."""
    try:
        right(call)
    except Exception as error:
        if getattr(error, "rule", None) != rule:
            raise
        try:
            return _computed(rule, call, right)
        except Exception:
            # Whatever an implementation that does not check would return here.
            return [np.zeros(())]
    return None


def _computing(rule: str, call: ArrayCall, right: Right) -> Outputs | None:
    try:
        right(call)
    except RuleBroken as error:
        if error.rule != rule:
            raise
        return _computed(rule, call, right)
    return None


def _computed(rule: str, call: ArrayCall, right: Right) -> list[Array]:
    # A copy, so that `right` computes it and does not remember what it said of the call.
    copy = ArrayCall(call.inputs, call.attributes)
    with unchecked(rule), np.errstate(all="ignore"):
        return list(right(copy))


def argument_members(signature: Signature) -> Iterator[Member]:
    """Yield what can go wrong with optional arguments, defaults and words."""
    spec = signature.spec
    for argument in spec.arguments:
        if not argument.required:
            name = argument.name
            yield changing_checked(f"{name}-ignored", f"{name} is ignored", partial(_ignored, name))
            yield rejecting(
                f"{name}-rejected",
                f"a call that gives {name} is rejected",
                partial(_gives, name),
            )
            yield rejecting(
                f"{name}-demanded",
                f"a call that omits {name} is rejected",
                partial(_omits, name),
            )
    for attribute in spec.attributes:
        if not attribute.required:
            for value in _other_defaults(attribute):
                yield changing_checked(
                    f"{attribute.name}-default-{value}",
                    f"an omitted {attribute.name} is taken for {value!r}",
                    partial(_defaulted, attribute.name, value),
                )
        words = attribute.one_of or ()
        for one, other in permutations(words, 2):
            yield changing_checked(
                f"{attribute.name}-{one}-as-{other}",
                f"{attribute.name} '{one}' is taken for '{other}'",
                partial(_taken_for, attribute.name, one, other),
            )
        for word in words:
            yield rejecting(
                f"{attribute.name}-{word}-rejected",
                f"{attribute.name} '{word}' is rejected",
                partial(_is_word, attribute.name, word),
            )
            yield changing(
                f"{attribute.name}-unknown-as-{word}",
                f"an unknown {attribute.name} is taken for '{word}'",
                partial(_unknown_as, attribute.name, words, word),
            )
    for name in signature.numbers:
        for form, rank in (("scalar", 0), ("list", 1)):
            yield rejecting(
                f"{name}-{form}-rejected",
                f"{name} is rejected as a {form} of one element",
                partial(_is_single, name, rank),
            )


def _other_defaults(attribute: Attribute | Role) -> list[Any]:
    if attribute.one_of:
        return [word for word in attribute.one_of if word != attribute.default]
    if attribute.type == "int" and isinstance(attribute.default, int):
        return [attribute.default + 1, attribute.default - 1]
    return []


def _gives(name: str, call: ArrayCall) -> bool:
    return call.argument(name) is not None


def _omits(name: str, call: ArrayCall) -> bool:
    return call.argument(name) is None


def _is_word(name: str, word: str, call: ArrayCall) -> bool:
    return bool(call.argument(name) == word)


def _is_single(name: str, rank: int, call: ArrayCall) -> bool:
    array = call.inputs.get(name)
    return array is not None and array.size == 1 and array.ndim == rank


def _ignored(name: str, call: ArrayCall) -> ArrayCall:
    return call if call.argument(name) is None else call.without(name)


def _defaulted(name: str, value: Any, call: ArrayCall) -> ArrayCall:
    if call.argument(name) is not None:
        return call
    return ArrayCall(call.inputs, {**call.attributes, name: value})


def _taken_for(name: str, one: str, other: str, call: ArrayCall) -> ArrayCall:
    return call.replaced(name, other) if call.argument(name) == one else call


def _unknown_as(name: str, words: tuple[str, ...], word: str, call: ArrayCall) -> ArrayCall:
    value = call.argument(name)
    return call if value is None or value in words else call.replaced(name, word)
