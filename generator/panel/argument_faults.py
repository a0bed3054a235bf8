"""Faults in the handling of arguments: unchecked requirements, ignored and confused arguments."""

from collections.abc import Callable, Iterator
from functools import partial
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
from opcert.roles.argument import Attribute
from opcert.roles.role import Role


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
        yield from _value_faults(attribute)
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
    if attribute.type == "boolean":
        return [not attribute.default]
    if attribute.type == "string" and attribute.one_of:
        return [word for word in attribute.one_of if word != attribute.default]
    if isinstance(attribute.default, int | float):
        return [attribute.default + 1, attribute.default - 1]
    return []


def _default_fault(name: str, value: Any) -> Fault:
    def misread(call: ArrayCall) -> ArrayCall:
        if call.argument(name) is not None:
            return call
        return ArrayCall(call.inputs, {**call.attributes, name: value})

    text = f"an omitted {name} is taken for {value!r}"
    return misreading_after_checks(f"{name}-default-{value}", text, misread)


def _value_faults(attribute: Attribute | Role) -> Iterator[Fault]:
    """Yield the faults of an attribute that holds other values than integers."""
    name, words = attribute.name, attribute.one_of or ()
    if attribute.type == "boolean":
        yield from _boolean_faults(name)
    elif attribute.type == "float":
        yield from _fraction_faults(name)
    elif attribute.type == "list" and attribute.elements not in (None, "int"):
        yield from _list_faults(name)
    elif attribute.type == "string":
        for word, other in permutations(words, 2):
            yield _confusion_fault(name, word, other)
        for word in words:
            yield from _word_faults(name, word, words)


def _boolean_faults(name: str) -> Iterator[Fault]:
    """Yield faults that read one value for both, before and after the checks, or reject it."""
    for value in (False, True):
        text = str(value).lower()

        def misread(call: ArrayCall, value: bool = value) -> ArrayCall:
            return call.replaced(name, value) if call.argument(name) is not value else call

        def is_value(call: ArrayCall, value: bool = value) -> bool:
            return call.argument(name) is value

        yield misreading(f"{name}-{text}", f"{name} is always taken for {text}", misread)
        checked = f"{name} is taken for {text} after it was checked"
        yield misreading_after_checks(f"{name}-{text}-checked", checked, misread)
        yield rejecting(f"{name}-{text}-rejected", f"{name} of {text} is rejected", is_value)


def _fraction_faults(name: str) -> Iterator[Fault]:
    """Yield misreadings of a number that need not be an integer."""
    for key, text, change in (
        ("cut", "is cut to an integer", lambda value: float(int(value))),
        ("rounded-to-f16", "is rounded to 16 bits", lambda value: float(np.float16(value))),
        ("rounded-to-f32", "is rounded to 32 bits", lambda value: float(np.float32(value))),
        ("without-sign", "loses its sign", abs),
        ("at-least-zero", "is raised to 0 where it is negative", lambda value: max(0.0, value)),
    ):
        misread = partial(_with_other_value, name, float, change)
        yield misreading_after_checks(f"{name}-{key}", f"{name} {text}", misread)


def _list_faults(name: str) -> Iterator[Fault]:
    """Yield misreadings of a list of truth values, words or fractions."""
    for key, text, change in (
        ("reversed", "is read from its end", lambda values: values[::-1]),
        ("first-for-all", "has every element replaced by the first", lambda v: v[:1] * len(v)),
        ("last-for-all", "has every element replaced by the last", lambda v: v[-1:] * len(v)),
        ("first-dropped", "loses its first element", lambda values: values[1:]),
        ("last-dropped", "loses its last element", lambda values: values[:-1]),
    ):
        misread = partial(_with_other_value, name, list, change)
        yield misreading_after_checks(f"{name}-{key}", f"{name} {text}", misread)


def _with_other_value(
    name: str, kind: type, change: Callable[[Any], Any], call: ArrayCall
) -> ArrayCall:
    value = call.argument(name)
    if not isinstance(value, kind) or (changed := change(value)) == value:
        return call
    return call.replaced(name, changed)


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
