"""Faults in the handling of variadic inputs: number, order and forms of their tensors."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial

import numpy as np

from opcert.arrays.element_types import Array
from opcert.arrays.variadic import argument_of, flatten_variadic, keys_of
from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    Run,
    RunReference,
    corrupting,
    misreading_after_checks,
    rejecting,
)

# Sizes of tables of arguments, and limits of a kernel's parameters.
_LIMITS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)


def variadic_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield the faults of each variadic input."""
    for argument in signature.spec.inputs:
        if argument.variadic is not None:
            yield from _list_faults(argument.name)
            yield from _limit_faults(argument.name)
            yield from _form_faults(argument.name)
            yield from _cache_faults(argument.name)


def _tensors(name: str, call: ArrayCall) -> list[Array]:
    return [call.inputs[key] for key in keys_of(name, call.inputs)]


def _with_tensors(name: str, tensors: Sequence[Array], call: ArrayCall) -> ArrayCall:
    others = {key: array for key, array in call.inputs.items() if argument_of(key) != name}
    return ArrayCall({**flatten_variadic({name: tensors}), **others}, call.attributes)


def _misread(
    name: str, change: Callable[[list[Array]], Sequence[Array]], call: ArrayCall
) -> ArrayCall:
    tensors = _tensors(name, call)
    changed = change(tensors)
    pairs = zip(tensors, changed, strict=False)
    if len(changed) == len(tensors) and all(one is other for one, other in pairs):
        return call
    return _with_tensors(name, changed, call)


def _list_faults(name: str) -> Iterator[Fault]:
    """Yield faults in the order and in the choice of tensors."""
    changes: tuple[tuple[str, str, Callable[[list[Array]], Sequence[Array]]], ...] = (
        ("reversed", "are taken in reverse order", lambda tensors: tensors[::-1]),
        ("rotated", "are taken from the second on", lambda tensors: tensors[1:] + tensors[:1]),
        (
            "last-two-exchanged",
            "have their last two exchanged",
            lambda tensors: [*tensors[:-2], *tensors[:-3:-1]],
        ),
        (
            "sorted",
            "are taken in the order of their sizes",
            lambda tensors: sorted(tensors, key=lambda array: -array.size),
        ),
        ("without-last", "lack their last", lambda tensors: tensors[:-1]),
        ("without-first", "lack their first", lambda tensors: tensors[1:]),
        ("first-again", "are all the first, where they have its form", _all_like(0)),
        ("last-again", "are all the last, where they have its form", _all_like(-1)),
        ("second-again", "are all the second, where they have its form", _all_like(1)),
        ("shape-of-first", "all have the shape of the first", _in_shape_of_first),
        ("later-as-c", "are read in C order, but for the first", _later_in_c_order),
    )
    for key, text, change in changes:
        yield misreading_after_checks(
            f"{name}-{key}", f"the tensors of {name} {text}", partial(_misread, name, change)
        )


def _all_like(number: int) -> Callable[[list[Array]], list[Array]]:
    def change(tensors: list[Array]) -> list[Array]:
        if len(tensors) < 2:
            return tensors
        model = tensors[number]
        return [model if array.shape == model.shape else array for array in tensors]

    return change


def _in_shape_of_first(tensors: list[Array]) -> list[Array]:
    return [
        array if array.shape == tensors[0].shape else np.resize(array, tensors[0].shape)
        for array in tensors
    ]


def _later_in_c_order(tensors: list[Array]) -> list[Array]:
    return [
        array if k == 0 or array.flags.c_contiguous else array.ravel(order="K").reshape(array.shape)
        for k, array in enumerate(tensors)
    ]


def _limit_faults(name: str) -> Iterator[Fault]:
    """Yield faults from some number of tensors on."""
    for limit in _LIMITS:
        yield misreading_after_checks(
            f"{name}-cut-to-{limit}",
            f"of {name} only the first {limit} tensors are used",
            partial(_misread, name, partial(_first, limit)),
        )
        yield corrupting(
            f"{name}-beyond-{limit}-wrong",
            f"results are wrong for more than {limit} tensors of {name}",
            partial(_has_more, name, limit),
        )
        yield rejecting(
            f"{name}-beyond-{limit}-rejected",
            f"more than {limit} tensors of {name} are rejected",
            partial(_has_more, name, limit),
        )
    yield rejecting(
        f"{name}-one-rejected",
        f"a single tensor of {name} is rejected",
        lambda call: len(_tensors(name, call)) == 1,
    )


def _first(limit: int, tensors: list[Array]) -> list[Array]:
    return tensors if len(tensors) <= limit else tensors[:limit]


def _has_more(name: str, limit: int, call: ArrayCall, _: Outputs = ()) -> bool:
    return len(_tensors(name, call)) > limit


def _form_faults(name: str) -> Iterator[Fault]:
    """Yield faults where some of the tensors are empty, or of another extent than the first."""
    positions: dict[str, Callable[[list[Array]], list[Array]]] = {
        "first": lambda tensors: tensors[:1],
        "middle": lambda tensors: tensors[1:-1],
        "last": lambda tensors: tensors[-1:],
    }

    def is_empty(
        select: Callable[[list[Array]], list[Array]], call: ArrayCall, _: Outputs = ()
    ) -> bool:
        tensors = _tensors(name, call)
        has_elements = any(array.size for array in tensors)
        return has_elements and any(not array.size for array in select(tensors))

    for position, select in positions.items():
        yield rejecting(
            f"{name}-empty-{position}-rejected",
            f"a {position} tensor of {name} without elements is rejected",
            partial(is_empty, select),
        )
        yield corrupting(
            f"{name}-empty-{position}-wrong",
            f"results are wrong if a {position} tensor of {name} has no elements",
            partial(is_empty, select),
        )
    yield corrupting(
        f"{name}-unequal-wrong",
        f"results are wrong if the tensors of {name} differ in shape",
        lambda call, _: len({array.shape for array in _tensors(name, call)}) > 1,
    )
    yield corrupting(
        f"{name}-equal-wrong",
        f"results are wrong if several tensors of {name} have one shape",
        lambda call, _: (
            len(_tensors(name, call)) > 1
            and len({array.shape for array in _tensors(name, call)}) == 1
        ),
    )


def _cache_faults(name: str) -> Iterator[Fault]:
    """Yield faults of a plan or a result that is kept under an incomplete key."""
    keys: dict[str, tuple[str, Callable[[list[Array]], Hashable]]] = {
        "number": ("as many tensors", lambda tensors: (len(tensors), tensors[0].dtype)),
        "first": ("the same shape of the first tensor", lambda tensors: _form(tensors[0])),
        "total": (
            "as many elements in all tensors",
            lambda tensors: (tensors[0].dtype, sum(array.size for array in tensors)),
        ),
    }
    for key, (text, key_of) in keys.items():
        yield Fault(
            f"forms-by-{key}-of-{name}",
            f"the tensors of {name} get the extents of an earlier call with {text}",
            partial(_reusing_forms, name, key_of),
            "history",
        )


def _form(array: Array) -> Hashable:
    return array.dtype, array.shape


def _reusing_forms(name: str, key_of: Callable[[list[Array]], Hashable]) -> Run:
    """Cut the elements of all tensors as those of an earlier call with the same key were."""
    forms: dict[Hashable, list[tuple[int, ...]]] = {}

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        outputs = reference(call)
        tensors = _tensors(name, call)
        shapes = [array.shape for array in tensors]
        planned = forms.setdefault((key_of(tensors), repr(call.attributes)), shapes)
        if planned == shapes:
            return None
        elements = np.concatenate([array.ravel() for array in tensors])
        if not elements.size:
            return [output[:0] for output in outputs]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in planned)])
        pairs = zip(planned, ends[:-1], strict=True)
        misread = [
            elements.take(range(start, start + int(np.prod(shape))), mode="wrap").reshape(shape)
            for shape, start in pairs
        ]
        return reference(_with_tensors(name, misread, call))

    return run
