"""Faults in the handling of arguments: unchecked requirements, ignored and confused arguments."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np

from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    RunReference,
    misreading,
    misreading_after_checks,
    rejecting,
)
from opcert.reference import RuleBroken, unchecked
from opcert.roles import Attribute, Role


def requirement_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the faults of each requirement: an implementation does not check it."""
    spec = signature.spec
    for rule in spec.requirements.values():
        if rule.unbreakable is None:
            yield from _unchecked_faults(rule.id, spec.full_id(rule.id))


def _unchecked_faults(name: str, rule: str) -> Iterator[Fault]:
    def compute(call: ArrayCall, reference: RunReference) -> Outputs | None:
        try:
            reference(call)
        except RuleBroken as error:
            if error.rule != rule:
                raise
            # A copy, since `reference` would raise the known error again for the same object.
            copy = ArrayCall(call.inputs, call.attributes)
            with unchecked(rule), np.errstate(all="ignore"):
                return list(reference(copy))
        return None

    def accept(call: ArrayCall, reference: RunReference) -> Outputs | None:
        try:
            reference(call)
        except Exception as error:
            if getattr(error, "rule", None) != rule:
                raise
            try:
                return compute(call, reference)
            except Exception:
                # The reference cannot compute outputs without the check; any array will do.
                return [np.zeros(())]
        return None

    yield Fault(
        f"{name}-unchecked",
        f"a call that violates only {rule} is accepted",
        lambda: accept,
        rule=rule,
    )
    yield Fault(
        f"{name}-computed",
        f"{rule} is not checked, and outputs are returned if they can be computed without it",
        lambda: compute,
        rule=rule,
    )


def argument_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults of optional arguments, defaults, words, and lists of one element."""
    for argument in signature.spec.arguments:
        if not argument.required:
            yield from _optional_faults(argument.name)
    for attribute in signature.spec.attributes:
        if not attribute.required:
            for value in _other_defaults(attribute):
                yield _default_fault(attribute.name, value)
        words = attribute.one_of or ()
        for word, other in permutations(words, 2):
            yield _confusion_fault(attribute.name, word, other)
        for word in words:
            yield from _word_faults(attribute.name, word, words)
    for name in signature.numbers:
        for form, rank in (("scalar", 0), ("list", 1)):
            yield _form_fault(name, form, rank)


def _optional_faults(name: str) -> Iterator[Fault]:
    yield misreading_after_checks(
        f"{name}-ignored",
        f"{name} is ignored",
        lambda call: call if call.argument(name) is None else call.without(name),
    )
    yield rejecting(
        f"{name}-rejected",
        f"a call that gives {name} is rejected",
        lambda call: call.argument(name) is not None,
    )
    yield rejecting(
        f"{name}-demanded",
        f"a call that omits {name} is rejected",
        lambda call: call.argument(name) is None,
    )


def _other_defaults(attribute: Attribute | Role) -> list[Any]:
    if attribute.one_of:
        return [word for word in attribute.one_of if word != attribute.default]
    if attribute.type == "int" and isinstance(attribute.default, int):
        return [attribute.default + 1, attribute.default - 1]
    return []


def _default_fault(name: str, value: Any) -> Fault:
    def misread(call: ArrayCall) -> ArrayCall:
        if call.argument(name) is not None:
            return call
        return ArrayCall(call.inputs, {**call.attributes, name: value})

    text = f"an omitted {name} is taken for {value!r}"
    return misreading_after_checks(f"{name}-default-{value}", text, misread)


def _confusion_fault(name: str, word: str, other: str) -> Fault:
    return misreading_after_checks(
        f"{name}-{word}-as-{other}",
        f"{name} '{word}' is taken for '{other}'",
        lambda call: call.replaced(name, other) if call.argument(name) == word else call,
    )


def _word_faults(name: str, word: str, words: tuple[str, ...]) -> Iterator[Fault]:
    def read_unknown_as_word(call: ArrayCall) -> ArrayCall:
        value = call.argument(name)
        return call if value is None or value in words else call.replaced(name, word)

    yield rejecting(
        f"{name}-{word}-rejected",
        f"{name} '{word}' is rejected",
        lambda call: bool(call.argument(name) == word),
    )
    yield misreading(
        f"{name}-unknown-as-{word}",
        f"an unknown {name} is taken for '{word}'",
        read_unknown_as_word,
    )


def _form_fault(name: str, form: str, rank: int) -> Fault:
    def is_single(call: ArrayCall) -> bool:
        array = call.inputs.get(name)
        return array is not None and array.size == 1 and array.ndim == rank

    text = f"{name} is rejected as a {form} of one element"
    return rejecting(f"{name}-{form}-rejected", text, is_single)
