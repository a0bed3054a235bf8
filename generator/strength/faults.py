"""Wrong backends: an effect in calls that meet conditions; systematic ones, and at random.

A systematic fault misreads an argument. One at random knows nothing of what the engine plans, so
the share of those that a suite finds says what it would find of faults that nobody thought of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np

from opcert.arrays.calls import tensor_key
from opcert.arrays.element_types import FLOATS, Array, bits_of, modulo, type_name
from opcert.arrays.layouts import start_of, underlying_buffer
from opcert.choices import Choices
from opcert.reference.rules import RuleBroken, unchecked
from opcert.roles.argument import Attribute
from opcert.roles.role import Role
from opcert.specification.model import Spec
from opcert.strength.effects import (
    EARLIER,
    LOWER_HALF,
    OUTPUT_LISTS,
    REJECTION,
    WRONG_ELEMENT,
    Column,
    Effect,
    Named,
    Outputs,
    Steps,
    Truths,
    Turn,
    masked,
)


def misreadings(spec: Spec, data: frozenset[str]) -> Iterator[Effect]:
    """Yield the ways to misread the arguments of an operator, which only moves elements of `data`.

    A backend may misread an argument after it was checked, which spoils valid calls, or before,
    so that it accepts invalid ones.
    """
    for name, text, change in _changes(spec, data):
        apply = partial(_run_changed, name, change)
        yield Effect(text, apply)
        if name not in data:
            yield Effect(f"calls are accepted since {text} before the check", apply, False)
    for declared in spec.inputs:
        yield from _readings(declared.name, _LAYOUTS)
        if declared.name in data:
            yield from _readings(declared.name, _LOSSES)
    numbers = [declared.name for declared in spec.inputs if declared.name not in data]
    for name, other in permutations(numbers, 2):
        yield Effect(f"{other} is read where {name} is", partial(_exchange, name, other))
    for rule in spec.requirements.values():
        apply = partial(_run_unchecked, spec.full_id(rule.id))
        yield Effect(f"{spec.full_id(rule.id)} is not checked", apply, False)


def _readings(name: str, ways: Sequence[Named]) -> Iterator[Effect]:
    """Yield ways to misread each tensor of an input."""
    for text, read in ways:
        yield Effect(f"{name} {text}", partial(_run_changed, name, partial(_each_tensor, read)))


def _changes(spec: Spec, data: frozenset[str]) -> Iterator[tuple[str, str, Callable[[Any], Any]]]:
    """Yield the ways to misread the value of an argument: its name, the words, the function.

    A value is None if the argument is omitted. A function returns what it gets where it makes no
    difference.
    """
    variadic = [declared.name for declared in spec.inputs if declared.variadic is not None]
    numbers = [argument.name for argument in spec.arguments if argument.name not in data]
    for name in numbers:
        for text, misread in _INTEGERS:
            yield name, f"{name} {text}", partial(_with_integers, misread)
    for name in dict.fromkeys([*numbers, *variadic]):
        for text, order in _ORDERS:
            yield name, f"{name} {text}", partial(_reordered, order)
    for argument in spec.arguments:
        if not argument.required:
            yield argument.name, f"{argument.name} is ignored", lambda _: None
    for attribute in spec.attributes:
        for text, misread in _value_misreadings(attribute):
            yield attribute.name, f"{attribute.name} {text}", misread


def _value_misreadings(attribute: Attribute | Role) -> Iterator[Named]:
    default = attribute.default
    options: Sequence[Any] = (False, True) if attribute.type == "boolean" else ()
    options = attribute.one_of or options
    if not options and isinstance(default, int | float):
        options = default + 1, default - 1
    for option in options:
        yield f"is taken for {option!r}", partial(_instead, option)
        yield f"is {option!r} where it is omitted", partial(_by_default, option)
    if attribute.type == "float":
        yield "is cut to an integer", lambda value: value and float(int(value))
        yield "loses its sign", lambda value: value and abs(value)


def _instead(option: Any, value: Any) -> Any:
    return None if value is None else option


def _by_default(option: Any, value: Any) -> Any:
    return option if value is None else value


def _run_changed(name: str, change: Callable[[Any], Any], turn: Turn) -> Outputs | None:
    value = turn.call.arguments.get(name)
    read = change(value)
    return None if _is_same(read, value) else turn.run_with(name, read)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one is other or (not isinstance(one, np.ndarray) and one == other)


def _exchange(name: str, other: str, turn: Turn) -> Outputs | None:
    if not {name, other} <= turn.call.inputs.keys():
        return None
    return turn.run_with(name, turn.call.inputs[other])


def _run_unchecked(rule: str, turn: Turn) -> Outputs | None:
    if turn.call.rule != rule:
        return None
    try:
        with unchecked(rule):
            return turn.run(turn.call.arguments)
    except RuleBroken:
        raise
    except (Exception, SystemExit):
        # Without the check the reference may compute nothing; a backend returns something.
        return [np.zeros(())]


_INTEGERS: Sequence[Named] = (
    *((f"is cut to {bits} bits", partial(modulo, f"i{bits}")) for bits in (8, 16, 32)),
    ("is rounded to a float of 32 bits", lambda number: int(np.float32(number))),
    ("is read as an unsigned integer of 32 bits", partial(modulo, "u32")),
    ("loses its sign", abs),
    ("is raised to 0 where it is negative", partial(max, 0)),
    ("is one too high where it is negative", lambda number: number + (number < 0)),
)


def _with_integers(misread: Callable[[int], int], value: Any) -> Any:
    """Return an argument with each integer in it misread; the same object if none differs."""
    if isinstance(value, np.ndarray):
        numbers = value.ravel().tolist() if value.dtype.kind in "iu" else []
        read = [misread(number) for number in numbers]
        if read == numbers:
            return value
        limits = np.iinfo(value.dtype)
        fits = limits.min <= min(read) and max(read) <= limits.max
        return np.array(read, value.dtype if fits else np.int64).reshape(value.shape)
    if isinstance(value, list):
        return [_with_integers(misread, part) for part in value]
    if isinstance(value, dict):
        return {key: _with_integers(misread, part) for key, part in value.items()}
    return misread(value) if type(value) is int else value


# Which of the n >= 2 items of a list is read in place of each.
_ORDERS: Sequence[Named] = (
    ("is read from its end", lambda n: range(n)[::-1]),
    ("is read from its second item on", lambda n: [*range(1, n), 0]),
    ("has its last two items exchanged", lambda n: [*range(n - 2), n - 1, n - 2]),
    ("has every item replaced by the first", lambda n: [0] * n),
    ("has every item replaced by the last", lambda n: [n - 1] * n),
    ("has its inner items replaced by the first", lambda n: [*[0] * (n - 1), n - 1]),
    ("loses its first item", lambda n: range(1, n)),
    ("loses its last item", lambda n: range(n - 1)),
    ("is read up to its fourth item", lambda n: range(min(n, 4))),
    ("is read up to its eighth item", lambda n: range(min(n, 8))),
)


def _reordered(order: Callable[[int], Sequence[int]], value: Any) -> Any:
    """Reorder a list, an array of one dimension, or the tensors of a variadic input."""
    is_array = isinstance(value, np.ndarray) and value.ndim == 1
    if not (is_array or isinstance(value, list)) or len(value) < 2:
        return value
    places = [*order(len(value))]
    if places == [*range(len(value))]:
        return value
    return value[places] if is_array else [value[place] for place in places]


# -- elements and layouts of arrays


def _each_tensor(read: Callable[[Array], Array], value: Any) -> Any:
    """Misread each array of an input."""
    if isinstance(value, list):
        return [read(array) for array in value]
    return value if value is None else read(value)


def _in_order_of_memory(array: Array) -> Array:
    return array if array.flags.c_contiguous else array.ravel(order="K").reshape(array.shape)


def _forwards(array: Array) -> Array:
    axes = tuple(axis for axis, stride in enumerate(array.strides) if stride < 0)
    return np.flip(array, axes) if axes else array


def _alone(array: Array) -> Array:
    buffer = underlying_buffer(array).ravel(order="K").view(array.dtype)
    return np.resize(buffer, array.shape) if buffer.size > array.size else array


def _read_on(array: Array) -> Array:
    if all(array.strides) or not array.size:
        return array
    return np.ndarray(array.shape, array.dtype, underlying_buffer(array), start_of(array))


_LAYOUTS: Sequence[Named] = (
    ("is read in the order of memory", _in_order_of_memory),
    ("is read forwards where it lies backwards", _forwards),
    ("is read as if its memory had nothing else", _alone),
    ("is read on where a stride is 0", _read_on),
)


def _instead_of(choose: Callable[[Array], Array], value: float, array: Array) -> Array:
    """Return an array with another value in place of some elements of a float type."""
    if type_name(array.dtype) not in FLOATS:
        return array
    other = array.copy()
    other[choose(array)] = value
    return other


def _subnormals(array: Array) -> Array:
    least = float(ml_dtypes.finfo(array.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    return abs(array.astype(np.float64)) < least


_LOSSES: Sequence[Named] = (
    ("loses payloads and signs of NaNs", partial(_instead_of, lambda a: a != a, np.nan)),  # noqa: PLR0124
    ("loses the sign of -0.0", partial(_instead_of, lambda a: a == 0, 0.0)),
    ("has its subnormal elements flushed to 0", partial(_instead_of, _subnormals, 0.0)),
    ("loses the highest bit of each element", partial(masked, lambda n: (1 << (n - 1)) - 1)),
    ("loses the lowest bit of each element", partial(masked, lambda n: (1 << n) - 2)),
    ("loses the lower half of each element", LOWER_HALF),
    ("has the bytes of each element reversed", lambda a: bits_of(a).byteswap().view(a.dtype)),
)
_RELATIONS: dict[str, Callable[[Column, Column | float], Truths]] = {
    "==": np.equal,
    "<": np.less,
    ">=": np.greater_equal,
}
_MODULI = (2, 3, 4, 8, 16, 32, 64)
# The numbers at which implementations change their ways: small or round ones, and their neighbours.
_ROUND = sorted({*range(13), *(2**k + d for k in range(3, 17) for d in (-1, 0, 1)), 100, 1000})
_MOST_CONDITIONS = 3


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition on a finished call: its text, and the steps of which it is true."""

    text: str
    holds: Callable[[Steps], Truths] = field(repr=False)
    uses_before: bool = False


@dataclass(frozen=True, eq=False)
class Fault:
    """A wrong backend: an effect in the calls of which all conditions are true."""

    effect: Effect
    conditions: tuple[Condition, ...] = ()

    @property
    def uses_before(self) -> bool:
        """Whether the fault depends on the call before."""
        return self.effect.uses_before or any(each.uses_before for each in self.conditions)

    def acts(self, steps: Steps) -> Truths:
        """Return whether the effect acts in each step."""
        acts: Truths = steps.is_valid == self.effect.on_valid
        for condition in self.conditions:
            acts &= condition.holds(steps)
        return acts


def _condition(
    name: str, text: str, test: Callable[[Column], Truths], before: bool = False
) -> Condition:
    """Return a condition on one fact of a call, or of the call before."""
    text = f"{'in the call before, ' * before}{name}{text}"
    return Condition(text, lambda steps: test(steps.column(name, before=before)), before)


def _clause(name: str, before: bool = False) -> Condition:
    return _condition(name, "", lambda column: column == 1, before)


def systematic_faults(
    spec: Spec, data: frozenset[str], effects: Sequence[Effect], fresh: Steps
) -> Iterator[Fault]:
    """Yield the faults that the signature of an operator suggests, `effects` among them."""
    yield from (Fault(effect) for effect in (*effects, *OUTPUT_LISTS))
    for declared in spec.inputs:
        if declared.name in data:
            key = declared.name if declared.variadic is None else tensor_key(declared.name, 0)
            for effect in _readings(declared.name, _LOSSES):
                for element_type in spec.type_sets[declared.type]:
                    yield Fault(effect, (_clause(f"{key} is {element_type}"),))
    conditions = [_clause(name) for name in fresh.clauses]
    for name in fresh.numbers:
        if name.endswith(".rank"):
            for rank in sorted({int(rank) for rank in fresh.column(name) if rank >= 0}):
                conditions.append(_condition(name, f" == {rank}", partial(np.equal, rank)))
    for condition in conditions:
        yield from (Fault(effect, (condition,)) for effect in (REJECTION, WRONG_ELEMENT))


def drawn_fault(choices: Choices, kinds: Sequence[Sequence[Effect]], fresh: Steps) -> Fault | None:
    """Return a fault with conditions; None if one of them is true of no fresh call, or of all."""
    effect = choices.pick("effect", choices.pick("kind of effect", kinds))
    acts = fresh.is_valid == effect.on_valid
    conditions: list[Condition] = []
    for k in range(choices.integer("conditions", 1, _MOST_CONDITIONS)):
        condition = _drawn_condition(choices, k, fresh)
        holds = condition.holds(fresh)[acts]
        if not holds.any() or holds.all():
            return None
        conditions.append(condition)
    return Fault(effect, tuple(conditions))


def _drawn_condition(choices: Choices, k: int, fresh: Steps) -> Condition:
    """Draw a condition; one in six looks at the call before."""
    before = not choices.integer(f"{k} before", 0, 5)
    kind = choices.pick(f"{k} kind", ("clause", "number", "remainder", "relation"))
    if kind == "clause":
        return _clause(choices.pick(f"{k} clause", fresh.clauses), before)
    name = choices.pick(f"{k} number", fresh.numbers)
    if kind == "remainder":
        modulus = choices.pick(f"{k} modulus", _MODULI)
        rest = choices.pick(f"{k} remainder", (0, 1, modulus - 1))
        text = f" % {modulus} == {rest}"
        return _condition(name, text, lambda column: column % modulus == rest, before)
    # No backend fails in one call by its number, but some do from a number on.
    relations = [*_RELATIONS] if name != EARLIER else [">="]
    relation = choices.pick(f"{k} relation", relations)
    compare = _RELATIONS[relation]
    if kind == "relation":
        other = name if before else choices.pick(f"{k} other", fresh.numbers)
        text = f"{name} {relation} {other}{' of the call before' * before}"
        return Condition(
            text, lambda s: compare(s.column(name), s.column(other, before=before)), before
        )
    # An implementation branches at a bound that a call may have, but hardly at one such number.
    if relation == "==" or choices.integer(f"{k} is round", 0, 1):
        # Small ones more often, and one in four negative.
        highest = choices.integer(f"{k} highest", 0, len(_ROUND) - 1)
        sign = 1 if choices.integer(f"{k} is positive", 0, 3) else -1
        number = float(sign * _ROUND[choices.integer(f"{k} round", 0, highest)])
    else:
        column = fresh.column(name)
        number = choices.pick(f"{k} observed", column[~np.isnan(column)].tolist())
    text = f" {relation} {number:.12g}"
    return _condition(name, text, lambda column: compare(column, number), before)
