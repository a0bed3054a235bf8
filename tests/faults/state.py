"""What one call leaves behind for the next: caches under too small a key, warm-ups, counters."""

from collections.abc import Callable, Hashable
from itertools import count

import numpy as np

from opcert.generator.element_types import Array
from opcert.reference import RuleBroken
from tests.faults.calls import broken, data, dml_call, ints, whole
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Compute,
    Fault,
    Outputs,
    Writer,
    right,
    spoiled,
)

Key = Callable[[Call], Hashable]


def _signature(call: Call) -> Hashable:
    shapes = tuple((name, each.shape, str(each.dtype)) for name, each in call.inputs.items())
    return shapes, str(call.attributes)


def _indices(call: Call) -> Hashable:
    return tuple(each.tobytes() for each in list(call.inputs.values())[1:])


_OUTPUT_KEYS: tuple[tuple[str, str, Key], ...] = (
    ("signature", "types, shapes and attributes", _signature),
    (
        "data-address",
        "the address of the data and the rest of the call",
        lambda call: (call.data.ctypes.data, _signature(call), _indices(call)),
    ),
    (
        "first-bytes",
        "a hash of the data's first 64 bytes and the rest of the call",
        lambda call: (call.data.tobytes()[:64], _signature(call), _indices(call)),
    ),
)


def _outputs_cached(operator: str, key: Key) -> Callable[[], Compute]:
    """Answer a call with the outputs of the last one of the same key."""

    def make() -> Compute:
        cache: dict[Hashable, Outputs] = {}

        def compute(call: Call) -> Outputs:
            outputs = right(operator, call)
            return [each.copy() for each in cache.setdefault(key(call), outputs)]

        return compute

    return make


def _plan_cached(operator: str, key: Key) -> Callable[[], Compute]:
    """Compute a call with the indices and attributes of the first one of the same key."""

    def make() -> Compute:
        plans: dict[Hashable, Call] = {}

        def compute(call: Call) -> Outputs:
            outputs = right(operator, call)
            first, *others = call.inputs
            kept = Call({name: call[name].copy() for name in others}, call.attributes)
            plan = plans.setdefault(key(call), kept)
            try:
                return right(operator, Call({first: call.data, **plan.inputs}, plan.attributes))
            except RuleBroken:
                return outputs

        return compute

    return make


def _spoiled_when(operator: str, when: Callable[[int, bool], bool]) -> Callable[[], Compute]:
    """Spoil a call where `when` says so, of its number and of a rejection just before it."""

    def make() -> Compute:
        numbers, rejected = count(1), [False]

        def compute(call: Call) -> Outputs:
            behind, rejected[0] = rejected[0], True
            outputs = right(operator, call)
            rejected[0] = False
            return spoiled(outputs) if when(next(numbers), behind) else outputs

        return compute

    return make


def _first_of_signature(operator: str) -> Callable[[], Compute]:
    """Spoil the first call of each signature."""

    def make() -> Compute:
        seen: set[Hashable] = set()

        def compute(call: Call) -> Outputs:
            outputs = right(operator, call)
            new = _signature(call) not in seen
            seen.add(_signature(call))
            return spoiled(outputs) if new else outputs

        return compute

    return make


def _width_changed(operator: str) -> Callable[[], Compute]:
    def make() -> Compute:
        last: list[int] = []

        def compute(call: Call) -> Outputs:
            outputs = right(operator, call)
            changed = bool(last) and last[-1] != call.data.itemsize
            last[:] = [call.data.itemsize]
            return spoiled(outputs) if changed else outputs

        return compute

    return make


def _uploaded_once(operator: str) -> Callable[[], Compute]:
    """Upload data unless it is what was uploaded first, whatever came in between."""

    def make() -> Compute:
        first: dict[Hashable, bytes] = {}
        uploaded: dict[Hashable, Array] = {}

        def compute(call: Call) -> Outputs:
            outputs, key = right(operator, call), _signature(call)
            if first.setdefault(key, call.data.tobytes()) == call.data.tobytes():
                kept = uploaded.setdefault(key, call.data.copy())
                return right(operator, call.given(**{next(iter(call.inputs)): kept}))
            uploaded[key] = call.data.copy()
            return outputs

        return compute

    return make


def _type_cached(operator: str) -> Callable[[], Compute]:
    """Use the kernel that was compiled for the first element type of a width."""

    def make() -> Compute:
        types: dict[tuple[int, int], np.dtype] = {}

        def compute(call: Call) -> Outputs:
            key = call.data.ndim, call.data.itemsize
            dtype = types.setdefault(key, call.data.dtype)
            return [each.view(dtype) for each in right(operator, call)]

        return compute

    return make


def _inverted(array: Array) -> Array:
    return array[::-1].copy()


def _faults(operator: str) -> list[Fault]:
    write = Writer(operator, "state")
    call = whole(operator, data(40, 2))
    name = next(iter(call.inputs))
    # A hash of the first 64 bytes takes the two for one.
    other = call.given(**{name: np.concatenate([call.data[:20], _inverted(call.data[20:])])})
    calls = (call, other)
    narrow, wide = whole(operator, data(3, 2, of="u8")), whole(operator, data(3, 2, of="f32"))
    return [
        *(
            write.remembers(
                f"outputs-by-{key_name}",
                f"caches outputs by {text}",
                _outputs_cached(operator, key),
                *calls,
            )
            for key_name, text, key in _OUTPUT_KEYS
        ),
        write.remembers(
            "first-call",
            "is wrong in its very first call",
            _spoiled_when(operator, lambda number, _: number == 1),
            call,
        ),
        write.remembers(
            "first-of-signature",
            "is wrong in the first call of each signature, when it tunes itself",
            _first_of_signature(operator),
            call,
        ),
        *(
            write.remembers(
                f"every-{n}",
                f"is wrong in every {n}th call",
                _spoiled_when(operator, lambda number, _, n=n: number % n == 0),  # type: ignore[misc]
                *([call] * n),
            )
            for n in (3, 7, 50)
        ),
        write.remembers(
            "behind-a-rejection",
            "is wrong in the call after one that it rejected",
            _spoiled_when(operator, lambda _, behind: behind),
            broken(operator),
            call,
        ),
        write.remembers(
            "data-taken-for-uploaded",
            "takes data for uploaded that was so first, whatever came in between",
            _uploaded_once(operator),
            *(*calls, call),
        ),
        write.remembers(
            "width-changed",
            "is wrong in the first call with elements of another width",
            _width_changed(operator),
            narrow,
            wide,
        ),
        write.remembers(
            "type-of-the-first",
            "returns the type that came first with elements of this width",
            _type_cached(operator),
            wide,
            whole(operator, data(3, 2, of="i32")),
        ),
    ]


_PLANS: dict[str, Call] = {
    SPLIT: whole(SPLIT, data(4, 4)).given(split_lengths=ints([3, 1])),
    SLICE: whole(SLICE, data(4, 4)),
    BROADCAST: Call(
        {"data": data(4), "target_shape": ints([4, 4]), "axes_mapping": ints([0])},
        {"mode": "explicit"},
    ),
    GATHER: whole(GATHER, data(4, 4)).given(indices=ints([0, 1])),
    DML: dml_call(data(4, 4), 0, [3, 1]),
}
_REPLANNED: dict[str, Call] = {
    SPLIT: _PLANS[SPLIT].given(split_lengths=ints([1, 3])),
    SLICE: _PLANS[SLICE].given(start=ints([1])),
    BROADCAST: _PLANS[BROADCAST].given(axes_mapping=ints([1])),
    GATHER: _PLANS[GATHER].given(indices=ints([2, 1])),
    DML: dml_call(data(4, 4), 0, [1, 3]),
}


def _of_plans(operator: str) -> list[Fault]:
    write = Writer(operator, "state")
    first, second = _PLANS[operator], _REPLANNED[operator]
    keys: tuple[tuple[str, str, Key], ...] = (
        ("signature", "types, shapes and attributes", _signature),
        ("data", "type and shape of the data", lambda call: (call.data.shape, call.data.dtype)),
    )
    if operator == DML:
        keys = (
            *keys[1:2],
            ("count", "shape, Axis and OutputCount", lambda call: (call.data.shape, _count(call))),
        )
    return [
        write.remembers(
            f"plan-by-{name}",
            f"caches what it made of indices and attributes by {text}",
            _plan_cached(operator, key),
            first,
            second,
        )
        for name, text, key in keys
    ]


def _count(call: Call) -> Hashable:
    return call.attributes["Axis"], call.attributes["OutputCount"]


FAULTS = [
    *(fault for operator in OPERATORS for fault in _faults(operator)),
    *(fault for operator in OPERATORS for fault in _of_plans(operator)),
]
