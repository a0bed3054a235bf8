"""Plans that are kept from call to call, under a key that leaves something out."""

from collections.abc import Hashable
from functools import partial

from opcert.reference import RuleBroken
from tests.faults.calls import data, dml_call, gather_call, ints, slice_call, whole
from tests.faults.fault import (
    BROADCAST,
    DML,
    GATHER,
    OPERATORS,
    SLICE,
    SPLIT,
    Call,
    Change,
    Fault,
    Outputs,
    Writer,
    right,
)
from tests.faults.state import Key, indices_of, signature_of


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
        ("signature", "types, shapes and attributes", signature_of),
        ("data", "type and shape of the data", lambda call: (call.data.shape, call.data.dtype)),
    )
    if operator == DML:
        keys = (
            *keys[1:2],
            ("count", "shape, Axis and OutputCount", lambda call: (call.data.shape, _count(call))),
        )
    return [
        write.keeps(
            f"plan-by-{name}",
            f"caches what it made of indices and attributes by {text}",
            partial(_plan_cached, operator, key),
            first,
            second,
        )
        for name, text, key in keys
    ]


# For arguments that a key may leave out: two calls that differ in that one alone.
_DIFFERING: dict[str, dict[str, tuple[Call, Call]]] = {
    SPLIT: {
        "axis": (_PLANS[SPLIT], _PLANS[SPLIT].given(axis=ints(1))),
        "split_lengths": (_PLANS[SPLIT], _REPLANNED[SPLIT]),
    },
    SLICE: {
        "start": (_PLANS[SLICE], _REPLANNED[SLICE]),
        "stop": (_PLANS[SLICE], _PLANS[SLICE].given(stop=ints([3]))),
        "step": (_PLANS[SLICE], _PLANS[SLICE].given(step=ints([2]))),
        "axes": (
            _PLANS[SLICE].given(start=ints([1])),
            _PLANS[SLICE].given(start=ints([1]), axes=ints([1])),
        ),
    },
    BROADCAST: {
        "target_shape": (_PLANS[BROADCAST], _PLANS[BROADCAST].given(target_shape=ints([4, 3]))),
        "axes_mapping": (_PLANS[BROADCAST], _REPLANNED[BROADCAST]),
    },
    GATHER: {
        "indices": (_PLANS[GATHER], _REPLANNED[GATHER]),
        "axis": (_PLANS[GATHER], _PLANS[GATHER].given(axis=ints(1))),
        "batch_dims": (
            gather_call(data(2, 2), [[1], [0]], 1, batch_dims=0),
            gather_call(data(2, 2), [[1], [0]], 1, batch_dims=1),
        ),
    },
}


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


def _of_keys(operator: str) -> list[Fault]:
    write = Writer(operator, "state")
    return [
        write.keeps(
            f"plan-without-{name.replace('_', '-')}",
            f"caches what it made of a call under a key that lacks {name}",
            partial(_plan_cached, operator, partial(_all_but, name)),
            first,
            second,
        )
        for name, (first, second) in _DIFFERING[operator].items()
    ]


def _count(call: Call) -> Hashable:
    return call.attributes["Axis"], call.attributes["OutputCount"]


FAULTS = [
    *(fault for operator in OPERATORS for fault in _of_plans(operator)),
    *(fault for operator in _DIFFERING for fault in _of_keys(operator)),
    Writer(SLICE, "state").keeps(
        "plan-without-index-type",
        "caches what it made of a call under the bytes of its indices, whatever their type",
        partial(_plan_cached, SLICE, _but_types),
        slice_call(data(5), [-2], [5], [1], [0], "i8"),
        slice_call(data(5), [254], [5], [1], [0], "u8"),
    ),
]
