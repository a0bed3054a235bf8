"""Faults in the handling of arguments: unchecked requirements, ignored and confused arguments."""

from collections.abc import Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from opcert.arrays import Array
from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    Run,
    RunReference,
    misreading,
    misreading_after_checks,
    rejecting,
)
from opcert.reference import RuleBroken, unchecked
from opcert.roles import Attribute, Role


def requirement_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the faults of each requirement: that it is not checked."""
    spec = signature.spec
    for rule in spec.requirements.values():
        if rule.unbreakable is None:
            full_id = spec.full_id(rule.id)
            yield Fault(
                f"{rule.id}-unchecked",
                f"a call that breaks only {full_id} is accepted",
                partial(_always, partial(_accepting, full_id)),
                rule=full_id,
            )
            yield Fault(
                f"{rule.id}-computed",
                f"{full_id} is unchecked, and what can be computed without the check is returned",
                partial(_always, partial(_computing, full_id)),
                rule=full_id,
            )


def _always(run: Run) -> Run:
    return run


def _accepting(rule: str, call: ArrayCall, reference: RunReference) -> Outputs | None:
    """Return what the reference computes without a check, or any output where it cannot."""
    try:
        reference(call)
    except Exception as error:
        if getattr(error, "rule", None) != rule:
            raise
        try:
            return _run_unchecked(rule, call, reference)
        except Exception:
            # Whatever an implementation without the check would return.
            return [np.zeros(())]
    return None


def _computing(rule: str, call: ArrayCall, reference: RunReference) -> Outputs | None:
    try:
        reference(call)
    except RuleBroken as error:
        if error.rule != rule:
            raise
        return _run_unchecked(rule, call, reference)
    return None


def _run_unchecked(rule: str, call: ArrayCall, reference: RunReference) -> list[Array]:
    # A new object: `reference` remembers its result for the call that is tried.
    copy = ArrayCall(call.inputs, call.attributes)
    with unchecked(rule), np.errstate(all="ignore"):
        return list(reference(copy))


def argument_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults of optional arguments, defaults, words, and lists of one element."""
    spec = signature.spec
    for argument in spec.arguments:
        if not argument.required:
            name = argument.name
            yield misreading_after_checks(
                f"{name}-ignored", f"{name} is ignored", partial(_ignored, name)
            )
            yield rejecting(
                f"{name}-rejected", f"a call that gives {name} is rejected", partial(_gives, name)
            )
            yield rejecting(
                f"{name}-demanded", f"a call that omits {name} is rejected", partial(_omits, name)
            )
    for attribute in spec.attributes:
        if not attribute.required:
            for value in _other_defaults(attribute):
                yield misreading_after_checks(
                    f"{attribute.name}-default-{value}",
                    f"an omitted {attribute.name} is taken for {value!r}",
                    partial(_with_default, attribute.name, value),
                )
        words = attribute.one_of or ()
        for word, other in permutations(words, 2):
            yield misreading_after_checks(
                f"{attribute.name}-{word}-as-{other}",
                f"{attribute.name} '{word}' is taken for '{other}'",
                partial(_confused, attribute.name, word, other),
            )
        for word in words:
            yield rejecting(
                f"{attribute.name}-{word}-rejected",
                f"{attribute.name} '{word}' is rejected",
                partial(_is_word, attribute.name, word),
            )
            yield misreading(
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


def _with_default(name: str, value: Any, call: ArrayCall) -> ArrayCall:
    if call.argument(name) is not None:
        return call
    return ArrayCall(call.inputs, {**call.attributes, name: value})


def _confused(name: str, word: str, other: str, call: ArrayCall) -> ArrayCall:
    return call.replaced(name, other) if call.argument(name) == word else call


def _unknown_as(name: str, words: tuple[str, ...], word: str, call: ArrayCall) -> ArrayCall:
    value = call.argument(name)
    return call if value is None or value in words else call.replaced(name, word)
