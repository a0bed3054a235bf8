"""Members that return the right elements in a wrong way, or remember what they should not."""

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any

import numpy as np

from opcert.arrays import Array
from opcert.panel.member import (
    Answer,
    ArrayCall,
    Member,
    Outputs,
    Right,
    Signature,
    computing,
)

# Up to how many bytes of an input an output is looked for in.
_SEARCHED = 1 << 12


def output_members(signature: Signature) -> Iterator[Member]:
    """Yield what can be wrong with the list of outputs, their forms and their memory."""
    changes: tuple[tuple[str, str, Callable[[list[Array]], Any]], ...] = (
        ("order", "outputs are returned in reverse order", lambda found: found[::-1]),
        ("last-missing", "the last of several outputs is missing", _without_last),
        ("first-missing", "the first of several outputs is missing", lambda found: found[1:]),
        ("none", "no outputs are returned", lambda _: []),
        ("one-more", "one output too many is returned", lambda found: [*found, *found[-1:]]),
        ("first-repeated", "every output is the first one", lambda found: found[:1] * len(found)),
        ("empty-missing", "outputs without elements are missing", _without_empty),
        ("bare", "a single output is returned without a list around it", _bare),
        ("flat", "empty outputs have the shape [0]", partial(map_empty, _flat)),
        ("untyped", "empty outputs have type f64", partial(map_empty, _untyped)),
        ("scalar-as-list", "a scalar output has the shape [1]", _scalars_as_lists),
        ("squeezed", "outputs lose their dimensions of 1", _squeezed),
    )
    for key, text, change in changes:
        yield computing(f"outputs-{key}", text, partial(_changed, change))
    yield from _memory_members(signature)
    yield from _cache_members(signature)


def _changed(change: Callable[[list[Array]], Any], call: ArrayCall, right: Right) -> Any:
    return change(list(right(call)))


def _without_last(outputs: list[Array]) -> list[Array]:
    return outputs[:-1] if len(outputs) > 1 else outputs


def _without_empty(outputs: list[Array]) -> list[Array]:
    return [output for output in outputs if output.size]


def _bare(outputs: list[Array]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs


def map_empty(change: Callable[[Array], Array], outputs: list[Array]) -> list[Array]:
    """Change each output without elements."""
    return [output if output.size else change(output) for output in outputs]


def _flat(output: Array) -> Array:
    return np.zeros(0, output.dtype)


def _untyped(output: Array) -> Array:
    return np.zeros(output.shape)


def _scalars_as_lists(outputs: list[Array]) -> list[Array]:
    return [output if output.ndim else output.reshape(1) for output in outputs]


def _squeezed(outputs: list[Array]) -> list[Array]:
    return [output.squeeze() if 1 in output.shape else output for output in outputs]


def _memory_members(signature: Signature) -> Iterator[Member]:
    """Yield members that share memory with the caller, or write to the caller's."""
    for name in (each.name for each in signature.spec.inputs):
        yield Member(
            f"{name}-returned",
            f"{name} itself is returned where an output equals it",
            lambda name=name: partial(_returned, name),  # type: ignore[misc]
            "memory",
        )
        yield Member(
            f"view-of-{name}",
            f"a view of {name} is returned where an output lies in it in one piece",
            lambda name=name: partial(_viewed, name),  # type: ignore[misc]
            "memory",
        )
        yield Member(
            f"{name}-written-to",
            f"{name} is written to",
            lambda name=name: partial(_written, name),  # type: ignore[misc]
            "memory",
        )
    for length in (1, 2, 4, 8):
        yield Member(
            f"buffers-reused-after-{length}",
            f"the memory of an output is used again {length} calls later",
            partial(_ring, length),
            "memory",
        )
    yield Member(
        "outputs-share-memory", "outputs of one shape share their memory", lambda: _shared, "memory"
    )


def _returned(name: str, call: ArrayCall, right: Right) -> Outputs | None:
    given, outputs = call.inputs.get(name), list(right(call))
    for i, output in enumerate(outputs):
        if given is not None and _equal(given, output) and output.size:
            outputs[i] = given
            return outputs
    return None


def _equal(one: Array, other: Array) -> bool:
    same_form = one.dtype == other.dtype and one.shape == other.shape
    return same_form and one.tobytes() == other.tobytes()


def _viewed(name: str, call: ArrayCall, right: Right) -> Outputs | None:
    given, outputs = call.inputs.get(name), list(right(call))
    if given is None or not given.flags.c_contiguous or given.nbytes > _SEARCHED:
        return None
    flat, text, viewed = given.reshape(-1), given.tobytes(), False
    for i, output in enumerate(outputs):
        place = text.find(output.tobytes()) if output.dtype == given.dtype and output.size else -1
        if place >= 0 and place % output.itemsize == 0:
            start = place // output.itemsize
            outputs[i] = flat[start : start + output.size].reshape(output.shape)
            viewed = True
    return outputs if viewed else None


def _written(name: str, call: ArrayCall, right: Right) -> Outputs | None:
    outputs, given = right(call), call.inputs.get(name)
    if given is None or not given.size:
        return None
    before = given.tobytes()
    given[...] = np.zeros((), given.dtype)
    return outputs if given.tobytes() != before else None


def _ring(length: int) -> Answer:
    """Hand out as many buffers as `length` for each form of output, then the first one again."""
    rings: dict[Hashable, list[Array]] = {}

    def placed(position: int, output: Array) -> Array:
        ring = rings.setdefault((position, output.dtype, output.shape), [])
        if len(ring) < length:
            ring.append(output.copy())
            return ring[-1]
        buffer = ring.pop(0)
        buffer[...] = output
        ring.append(buffer)
        return buffer

    return lambda call, right: [placed(i, output) for i, output in enumerate(right(call))]


def _shared(call: ArrayCall, right: Right) -> Outputs | None:
    outputs = list(right(call))
    buffers: dict[Hashable, Array] = {}
    for output in outputs:
        buffer = buffers.setdefault((output.dtype, output.shape), output)
        buffer[...] = output
    shared = [buffers[output.dtype, output.shape] for output in outputs]
    return shared if len(buffers) < len(outputs) else None


def _cache_members(signature: Signature) -> Iterator[Member]:
    """Yield members whose plan or result of a call leaves something out of its key."""
    arguments = [each.name for each in signature.spec.arguments]
    for name in arguments:
        if name not in signature.data:
            yield Member(
                f"plan-without-{name}",
                f"the plan of a call is kept for later calls with another {name}",
                partial(_planned, (name,), signature.data),
                "history",
            )
    yield Member(
        "plan-by-shapes",
        "the plan of a call is kept for later calls with inputs of its types and shapes",
        partial(_planned, (*signature.integers,), signature.data),
        "history",
    )
    for name in signature.data:
        yield Member(
            f"results-without-{name}",
            f"the results of a call are returned again for other elements of {name}",
            partial(_cached, signature.data, lambda array: (array.dtype, array.shape)),
            "history",
        )
    keys: tuple[tuple[str, str, Callable[[Array], Hashable]], ...] = (
        ("type", "another type", lambda array: array.shape),
        ("shape", "another shape of the same size", lambda array: (array.dtype, array.size)),
        ("extents", "other extents", lambda array: (array.dtype, array.ndim)),
    )
    for name in signature.data:
        for key, text, kept in keys:
            yield Member(
                f"plan-without-{key}-of-{name}",
                f"the form of the results is kept for later calls with {text} of {name}",
                partial(_forms_kept, name, kept),
                "history",
            )
    yield Member(
        "checked-once",
        "calls are accepted whose inputs have the types and shapes of a valid call before",
        partial(_checked_once, lambda _: ()),
        "history",
    )
    yield Member(
        "checked-once-by-attributes",
        "calls are accepted whose attributes, types and shapes were valid before",
        partial(_checked_once, lambda call: repr(call.attributes)),
        "history",
    )
    yield Member("alternating", "every third call is wrong", _every_third, "history")


def _value_key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return repr(value)


def _form_key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    return type(value), len(value) if isinstance(value, list) else 0


def _planned(left_out: tuple[str, ...], data: tuple[str, ...]) -> Answer:
    """Take what `left_out` arguments were in the first call that is equal but for their values."""
    plans: dict[Hashable, ArrayCall] = {}

    def answer(call: ArrayCall, right: Right) -> Outputs | None:
        given = {**call.inputs, **call.attributes}
        key = tuple(
            (name, _form_key(value) if name in (*left_out, *data) else _value_key(value))
            for name, value in given.items()
        )
        outputs = right(call)
        planned = plans.setdefault(key, call)
        taken = call
        for name in left_out:
            before, now = planned.argument(name), call.argument(name)
            if now is not None and _value_key(before) != _value_key(now):
                taken = taken.replaced(name, before)
        if taken is call:
            return None
        del outputs
        return right(taken)

    return answer


def _cached(data: tuple[str, ...], form: Callable[[Array], Hashable]) -> Answer:
    results: dict[Hashable, list[Array]] = {}

    def answer(call: ArrayCall, right: Right) -> Outputs:
        given = {**call.inputs, **call.attributes}
        key = tuple(
            (name, form(value) if name in data else _value_key(value))
            for name, value in given.items()
        )
        if key not in results:
            results[key] = [output.copy() for output in right(call)]
        return [output.copy() for output in results[key]]

    return answer


def _forms_kept(name: str, kept: Callable[[Array], Hashable]) -> Answer:
    """Return outputs in the types and shapes that an earlier call had."""
    forms: dict[Hashable, list[Array]] = {}

    def answer(call: ArrayCall, right: Right) -> Any:
        outputs = list(right(call))
        given = {**call.inputs, **call.attributes}
        key = tuple(
            (each, kept(value) if each == name else _value_key(value))
            for each, value in given.items()
        )
        before = forms.setdefault(key, outputs)
        pairs = zip(before, outputs, strict=False)
        if len(before) == len(outputs) and all(_form_key(a) == _form_key(b) for a, b in pairs):
            return None
        return [np.zeros(output.shape, output.dtype) for output in before]

    return answer


def _checked_once(key_of: Callable[[ArrayCall], Hashable]) -> Answer:
    valid: dict[Hashable, Outputs] = {}

    def answer(call: ArrayCall, right: Right) -> Any:
        key = key_of(call), tuple((name, _form_key(each)) for name, each in call.inputs.items())
        try:
            outputs = right(call)
        except Exception:
            if key not in valid:
                raise
            return valid[key]
        valid.setdefault(key, outputs)
        return None

    return answer


def _every_third() -> Answer:
    calls = [0]

    def answer(call: ArrayCall, right: Right) -> Outputs | None:
        outputs = right(call)
        calls[0] += 1
        if calls[0] % 3:
            return None
        return [np.zeros_like(output) for output in outputs]

    return answer
