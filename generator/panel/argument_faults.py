"""Faults in arguments: unchecked requirements, confused arguments, integers of too few bits."""

from collections.abc import Callable, Iterator, Sequence
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
    array_like,
    corrupting,
    is_integral,
    misreading,
    misreading_after_checks,
    rejecting,
    with_integers,
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


def _truncated(bits: int, number: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _clamped(bits: int, number: int) -> int:
    return max(-(1 << (bits - 1)), min(number, (1 << (bits - 1)) - 1))


def _outer(elements: Sequence[Any]) -> list[Any]:
    half = len(elements) // 2
    return [*([elements[0]] * half), *([elements[-1]] * (len(elements) - half))]


# Ways of misreading an integer: a name, the effect in words, and the function.
_MISREADINGS: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    *((f"cut-to-{n}-bits", f"is cut to {n} bits", partial(_truncated, n)) for n in (8, 16, 32)),
    *((f"clamped-to-{n}-bits", f"is clamped to {n} bits", partial(_clamped, n)) for n in (16, 32)),
    ("through-f32", "is rounded to a 32-bit float", lambda n: int(np.float32(n))),
    ("as-u32", "is read as an unsigned integer of 32 bits", lambda n: n % (1 << 32)),
    ("without-sign", "loses its sign", abs),
    ("at-least-zero", "is raised to 0 where it is negative", partial(max, 0)),
    ("negative-one-high", "is one too high where it is negative", lambda n: n + (n < 0)),
    ("negative-one-low", "is one too low where it is negative", lambda n: n - (n < 0)),
)

# Ways of misreading a list.
_LIST_MISREADINGS: tuple[tuple[str, str, Callable[[Sequence[Any]], Sequence[Any]]], ...] = (
    ("first-ignored", "has its first element replaced by the second", lambda x: [x[1], *x[1:]]),
    ("last-ignored", "has its last element replaced by that before it", lambda x: [*x[:-1], x[-2]]),
    ("middle-ignored", "has all its elements replaced by the outer ones", _outer),
    ("first-for-all", "has every element replaced by the first", lambda x: [x[0] for _ in x]),
    ("reversed", "is read from its end", lambda x: x[::-1]),
    ("first-dropped", "loses its first element", lambda x: x[1:]),
    ("last-dropped", "loses its last element", lambda x: x[:-1]),
    ("four-read", "is read up to its fourth element", lambda x: x[:4]),
    ("eight-read", "is read up to its eighth element", lambda x: x[:8]),
)


# Kinds of values that implementations treat specially.
_VALUE_KINDS: tuple[tuple[str, str, Callable[[Sequence[int]], bool]], ...] = (
    ("zero", "has a 0", lambda numbers: 0 in numbers),
    ("minus-one", "has a -1", lambda numbers: -1 in numbers),
    ("negative", "has a negative value", lambda numbers: min(numbers, default=0) < 0),
    ("several", "has several elements", lambda numbers: len(numbers) > 1),
    ("one", "has one element", lambda numbers: len(numbers) == 1),
    ("none", "has no element", lambda numbers: not numbers),
    ("repeated", "has an element twice", lambda numbers: len(set(numbers)) < len(numbers)),
)


def integer_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the ways of misreading each argument that holds integers."""
    for name in signature.integers:
        for key, text, misread in _MISREADINGS:
            misread_call = partial(_with_misread_integers, name, misread)
            yield misreading(f"{name}-{key}", f"{name} {text} before it is checked", misread_call)
            yield misreading_after_checks(
                f"{name}-{key}-checked", f"{name} {text} after it was checked", misread_call
            )
        for key, text, misread_list in _LIST_MISREADINGS:
            yield misreading_after_checks(
                f"{name}-{key}", f"{name} {text}", partial(_with_misread_list, name, misread_list)
            )
        yield misreading_after_checks(f"{name}-sorted", f"{name} is sorted", partial(_sorted, name))
        for key, text, has in _VALUE_KINDS:
            yield from _list_value_faults(name, key, text, has)
    for name, other in permutations(signature.numbers, 2):
        yield from _pair_faults(name, other)


def _with_misread_integers(name: str, misread: Callable[[int], int], call: ArrayCall) -> ArrayCall:
    if all(misread(number) == number for number in call.integers(name)):
        return call
    return call.replaced(name, with_integers(call.argument(name), misread))


def _with_misread_list(
    name: str, misread: Callable[[Sequence[Any]], Sequence[Any]], call: ArrayCall
) -> ArrayCall:
    """Misread a list, or an array of integers with one dimension, of two elements or more."""
    value = call.argument(name)
    is_array = isinstance(value, np.ndarray)
    if is_array and (value.ndim != 1 or not is_integral(value)):
        return call
    elements = list(value.tolist()) if is_array else value
    if not isinstance(elements, list) or len(elements) < 2:
        return call
    read = list(misread(elements))
    if read == elements:
        return call
    return call.replaced(name, array_like(value, read) if is_array else read)


def _sorted(name: str, call: ArrayCall) -> ArrayCall:
    is_array = isinstance(call.argument(name), np.ndarray)
    return _with_misread_list(name, sorted, call) if is_array else call


def _list_value_faults(
    name: str, key: str, text: str, has: Callable[[Sequence[int]], bool]
) -> Iterator[Fault]:
    """Yield faults that corrupt or reject calls in which an argument has values of one kind."""

    def is_affected(call: ArrayCall) -> bool:
        return call.argument(name) is not None and has(call.integers(name))

    yield corrupting(
        f"{name}-wrong-for-{key}",
        f"results are wrong where {name} {text}",
        lambda call, _: is_affected(call),
    )
    yield rejecting(
        f"{name}-rejected-for-{key}", f"{name} is rejected where it {text}", is_affected
    )


def _pair_faults(name: str, other: str) -> Iterator[Fault]:
    """Yield faults that confuse two inputs, or reject inputs of different types."""

    def gives_both(call: ArrayCall) -> bool:
        return name in call.inputs and other in call.inputs

    yield misreading_after_checks(
        f"{name}-read-as-{other}",
        f"{other} is read where {name} is",
        lambda call: call.replaced(name, call.inputs[other]) if gives_both(call) else call,
    )
    if name < other:
        yield rejecting(
            f"{name}-and-{other}-of-two-types",
            f"{name} and {other} are rejected where their types differ",
            lambda call: gives_both(call) and call.inputs[name].dtype != call.inputs[other].dtype,
        )


def range_end_faults(
    name: str, bounds: Callable[[ArrayCall], tuple[int | None, int | None]]
) -> Iterator[Fault]:
    """Yield faults that corrupt calls where an argument is at an end of its declared range."""

    def is_at(end: int, call: ArrayCall, _: Outputs) -> bool:
        return bounds(call)[end] in call.integers(name)

    for end, text in enumerate(("least", "greatest")):
        yield corrupting(
            f"{name}-wrong-at-{text}",
            f"results are wrong where {name} has its {text} value",
            partial(is_at, end),
        )
