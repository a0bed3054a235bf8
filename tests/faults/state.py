"""What one call leaves to the next: caches under too small a key, warm-ups, counters."""

from collections.abc import Callable, Hashable
from functools import partial
from itertools import count

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.calls import broken, data, whole
from tests.faults.fault import (
    OPERATORS,
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


_OUTPUT_KEYS: tuple[tuple[str, str, Key], ...] = (
    ("signature", "types, shapes and attributes", signature_of),
    (
        "data-address",
        "the address of the data and the rest of the call",
        lambda call: (call.data.ctypes.data, signature_of(call), indices_of(call)),
    ),
    (
        "first-bytes",
        "a hash of the data's first 64 bytes and the rest of the call",
        lambda call: (call.data.tobytes()[:64], signature_of(call), indices_of(call)),
    ),
)


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


def _every(n: int) -> Callable[[int, bool], bool]:
    return lambda number, _: number % n == 0


def _first_ofsignature_of() -> Change:
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


def _inverted(array: Array) -> Array:
    return array[::-1].copy()


def _faults(operator: str) -> list[Fault]:
    write = Writer(operator, "state")
    call = whole(operator, data(40, 2))
    # A hash of the first 64 bytes takes the two for one.
    other = call.moving(np.concatenate([call.data[:20], _inverted(call.data[20:])]))
    calls = (call, other)
    narrow, wide = whole(operator, data(3, 2, of="u8")), whole(operator, data(3, 2, of="f32"))
    return [
        *(
            write.keeps(
                f"outputs-by-{key_name}",
                f"caches outputs by {text}",
                partial(_outputs_cached, key),
                *calls,
            )
            for key_name, text, key in _OUTPUT_KEYS
        ),
        write.remembers(
            "first-call",
            "is wrong in its very first call",
            partial(_spoiled_when, operator, lambda number, _: number == 1),
            call,
        ),
        write.keeps(
            "first-of-signature",
            "is wrong in the first call of each signature, when it tunes itself",
            _first_ofsignature_of,
            call,
        ),
        *(
            write.remembers(
                f"every-{n}",
                f"is wrong in every {n}th call",
                partial(_spoiled_when, operator, _every(n)),
                *([call] * n),
            )
            for n in (3, 7, 50)
        ),
        write.remembers(
            "after-a-rejection",
            "is wrong in the call after one that it rejected",
            partial(_spoiled_when, operator, lambda _, after: after),
            broken(operator),
            call,
        ),
        write.keeps(
            "data-taken-for-uploaded",
            "takes data for uploaded that was so first, whatever came in between",
            partial(_uploaded_once, operator),
            *(*calls, call),
        ),
        write.keeps(
            "width-changed",
            "is wrong in the first call with elements of another width",
            _width_changed,
            narrow,
            wide,
        ),
        write.remembers(
            "type-of-the-first",
            "returns the type that came first with elements of this width",
            partial(_type_cached, operator),
            wide,
            whole(operator, data(3, 2, of="i32")),
        ),
    ]


FAULTS = [fault for operator in OPERATORS for fault in _faults(operator)]
