"""What one call leaves to the next: caches and plans under too small a key, counters."""

from collections.abc import Callable, Hashable
from functools import partial
from itertools import count

import numpy as np

from opcert.arrays.element_types import Array
from opcert.reference import RuleBroken
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Change,
    Compute,
    Fault,
    Outputs,
    Writer,
    right,
    spoiled,
)

Key = Callable[[Call], Hashable]


def signature_of(call: Call) -> Hashable:
    shapes = tuple((name, each.shape, str(each.dtype)) for name, each in call.inputs.items())
    return shapes, str(call.attributes)


def indices_of(call: Call) -> Hashable:
    return tuple(each.tobytes() for each in list(call.inputs.values())[1:])


_OUTPUT_KEYS: dict[str, Key] = {
    "signature": signature_of,
    "data-address": lambda call: (call.data.ctypes.data, signature_of(call), indices_of(call)),
    "first-bytes": lambda call: (call.data.tobytes()[:64], signature_of(call), indices_of(call)),
}


def _outputs_cached(key: Key) -> Change:
    """Answer a call with the outputs of the last one of the same key."""
    cache: dict[Hashable, Outputs] = {}
    return lambda call, outputs: [each.copy() for each in cache.setdefault(key(call), outputs)]


def _spoiled_when(operator: str, when: Callable[[int, bool], bool]) -> Compute:
    """Spoil a call where `when` says so, of its number and of a rejection just before it."""
    numbers, rejected = count(1), [False]

    def compute(call: Call) -> Outputs:
        after, rejected[0] = rejected[0], True
        outputs = right(operator, call)
        rejected[0] = False
        return spoiled(outputs) if when(next(numbers), after) else outputs

    return compute


def _first_of_signature() -> Change:
    """Spoil the first call of each signature."""
    seen: set[Hashable] = set()

    def change(call: Call, outputs: Outputs) -> Outputs:
        new = signature_of(call) not in seen
        seen.add(signature_of(call))
        return spoiled(outputs) if new else outputs

    return change


def _width_changed() -> Change:
    """Spoil a call whose elements are of another width than those before."""
    last: list[int] = []

    def change(call: Call, outputs: Outputs) -> Outputs:
        changed = bool(last) and last[-1] != call.data.itemsize
        last[:] = [call.data.itemsize]
        return spoiled(outputs) if changed else outputs

    return change


def _uploaded_once(operator: str) -> Change:
    """Upload data unless it is what was uploaded first, whatever came in between."""
    first: dict[Hashable, bytes] = {}
    uploaded: dict[Hashable, Array] = {}

    def change(call: Call, outputs: Outputs) -> Outputs:
        key = signature_of(call)
        if first.setdefault(key, call.data.tobytes()) == call.data.tobytes():
            return right(operator, call.moving(uploaded.setdefault(key, call.data.copy())))
        uploaded[key] = call.data.copy()
        return outputs

    return change


def _type_cached(operator: str) -> Compute:
    """Use the kernel that was compiled for the first element type of a width."""
    types: dict[tuple[int, int], np.dtype] = {}

    def compute(call: Call) -> Outputs:
        key = call.data.ndim, call.data.itemsize
        dtype = types.setdefault(key, call.data.dtype)
        return [each.view(dtype) for each in right(operator, call)]

    return compute


def _of_calls(operator: str) -> list[Fault]:
    write = Writer(operator, "state")

    def counting(name: str, when: Callable[[int, bool], bool]) -> Fault:
        return write.remembers(name, partial(_spoiled_when, operator, when))

    return [
        *(
            write.keeps(f"outputs-by-{name}", partial(_outputs_cached, key))
            for name, key in _OUTPUT_KEYS.items()
        ),
        counting("first-call", lambda number, _: number == 1),
        write.keeps("first-of-signature", _first_of_signature),
        counting("every-3", lambda number, _: number % 3 == 0),
        counting("every-7", lambda number, _: number % 7 == 0),
        counting("every-50", lambda number, _: number % 50 == 0),
        counting("after-a-rejection", lambda _, after: after),
        write.keeps("data-taken-for-uploaded", partial(_uploaded_once, operator)),
        write.keeps("width-changed", _width_changed),
        write.remembers("type-of-the-first", partial(_type_cached, operator)),
    ]


def _plan_cached(operator: str, key: Key) -> Change:
    """Compute a call with the indices and attributes of the first one of the same key."""
    plans: dict[Hashable, Call] = {}

    def change(call: Call, outputs: Outputs) -> Outputs:
        first, *others = call.inputs
        kept = Call({name: call[name].copy() for name in others}, call.attributes)
        plan = plans.setdefault(key(call), kept)
        try:
            return right(operator, Call({first: call.data, **plan.inputs}, plan.attributes))
        except RuleBroken:
            return outputs

    return change


def _all_but(name: str, call: Call) -> Hashable:
    """Return a key of a whole call, but for the elements of its data and one argument."""
    given = tuple(
        (each, str(array.dtype), array.shape, array.tobytes())
        for each, array in list(call.inputs.items())[1:]
        if each != name
    )
    attributes = {each: value for each, value in call.attributes.items() if each != name}
    return call.data.shape, str(call.data.dtype), given, str(attributes)


def _but_types(call: Call) -> Hashable:
    """Return a key of a whole call that has the bytes of its indices, and not their types."""
    return call.data.shape, str(call.data.dtype), indices_of(call), str(call.attributes)


# The arguments that the key of a kept plan may leave out.
_LEFT_OUT = {
    SPLIT: ("axis", "split_lengths"),
    SLICE: ("start", "stop", "step", "axes"),
    BROADCAST: ("target_shape", "axes_mapping"),
    GATHER: ("indices", "axis", "batch_dims"),
    DML: (),
}


def _of_data(call: Call) -> Hashable:
    return call.data.shape, call.data.dtype


def _of_count(call: Call) -> Hashable:
    return call.data.shape, (call["Axis"], call["OutputCount"])


def _of_plans(operator: str) -> list[Fault]:
    keys: dict[str, Key] = {"by-data": _of_data}
    keys |= {"by-count": _of_count} if operator == DML else {"by-signature": signature_of}
    for name in _LEFT_OUT[operator]:
        keys[f"without-{name.replace('_', '-')}"] = partial(_all_but, name)
    if operator == SLICE:
        keys["without-index-type"] = _but_types
    return [
        Writer(operator, "state").keeps(f"plan-{name}", partial(_plan_cached, operator, key))
        for name, key in keys.items()
    ]


FAULTS = [
    *(fault for operator in OPERATORS for fault in _of_calls(operator)),
    *(fault for operator in OPERATORS for fault in _of_plans(operator)),
]
