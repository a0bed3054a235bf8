"""Faults in outputs: in their number, form and memory, and in state kept between calls."""

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any

import numpy as np

from opcert.arrays.calls import argument_of
from opcert.arrays.element_types import Array
from opcert.panel.fault import (
    ArrayCall,
    Fault,
    OperatorSignature,
    Outputs,
    Run,
    RunReference,
    stateless,
)

# Inputs of up to so many bytes are searched for an output.
_MAX_SEARCHED_BYTES = 1 << 12


def output_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults in the list of outputs, in their memory, and in caches."""
    changes: tuple[tuple[str, str, Callable[[list[Array]], Any]], ...] = (
        ("order", "outputs are returned in reverse order", lambda outputs: outputs[::-1]),
        ("last-missing", "the last of several outputs is missing", _without_last),
        ("first-missing", "the first of several outputs is missing", lambda outputs: outputs[1:]),
        ("none", "no outputs are returned", lambda _: []),
        ("one-more", "one output too many is returned", lambda outputs: [*outputs, *outputs[-1:]]),
        ("first-repeated", "every output is the first one", lambda x: x[:1] * len(x)),
        ("empty-missing", "outputs without elements are missing", _without_empty),
        ("bare", "a single output is returned without a list around it", _bare),
        ("flat", "empty outputs have the shape [0]", partial(_map_empty, np.ravel)),
        ("untyped", "empty outputs have type f64", partial(_map_empty, _untyped)),
        ("scalar-as-list", "a scalar output has the shape [1]", _scalars_as_lists),
        ("squeezed", "outputs lose their dimensions of 1", _squeezed),
    )
    for key, text, change in changes:
        yield stateless(f"outputs-{key}", text, partial(_changed, change))
    yield from _memory_faults(signature)
    yield from _cache_faults(signature)


def _changed(change: Callable[[list[Array]], Any], call: ArrayCall, reference: RunReference) -> Any:
    return change(list(reference(call)))


def _without_last(outputs: list[Array]) -> list[Array]:
    return outputs[:-1] if len(outputs) > 1 else outputs


def _without_empty(outputs: list[Array]) -> list[Array]:
    return [output for output in outputs if output.size]


def _bare(outputs: list[Array]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs


def _map_empty(change: Callable[[Array], Array], outputs: list[Array]) -> list[Array]:
    return [output if output.size else change(output) for output in outputs]


def _untyped(output: Array) -> Array:
    return np.zeros(output.shape)


def _scalars_as_lists(outputs: list[Array]) -> list[Array]:
    return [output if output.ndim else output.reshape(1) for output in outputs]


def _squeezed(outputs: list[Array]) -> list[Array]:
    return [output.squeeze() if 1 in output.shape else output for output in outputs]


def _memory_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults that share memory with the caller, or write to memory of the caller."""
    for key in signature.ranks:
        yield from _input_memory_faults(key)
    for length in (1, 2, 4, 8):
        yield Fault(
            f"buffers-reused-after-{length}",
            f"the memory of an output is used again {length} calls later",
            partial(_reusing_buffers, length),
            "memory",
        )
    text = "outputs of one shape share their memory"
    yield Fault("outputs-share-memory", text, lambda: _sharing_memory, "memory")


def _input_memory_faults(name: str) -> Iterator[Fault]:
    def return_input(call: ArrayCall, reference: RunReference) -> Outputs | None:
        array, outputs = call.inputs.get(name), list(reference(call))
        for i, output in enumerate(outputs):
            if array is not None and output.size and _value_key(array) == _value_key(output):
                outputs[i] = array
                return outputs
        return None

    def overwrite_input(call: ArrayCall, reference: RunReference) -> Outputs | None:
        outputs, array = reference(call), call.inputs.get(name)
        if array is None or not array.size:
            return None
        before = array.tobytes()
        array[...] = np.zeros((), array.dtype)
        return outputs if array.tobytes() != before else None

    text = f"{name} itself is returned where an output equals it"
    yield Fault(f"{name}-returned", text, lambda: return_input, "memory")
    text = f"a view of {name} is returned where an output lies in it in one piece"
    yield Fault(f"view-of-{name}", text, lambda: partial(_return_view, name), "memory")
    text = f"{name} is written to"
    yield Fault(f"{name}-written-to", text, lambda: overwrite_input, "memory")


def _return_view(name: str, call: ArrayCall, reference: RunReference) -> Outputs | None:
    array, outputs = call.inputs.get(name), list(reference(call))
    if array is None or not array.flags.c_contiguous or array.nbytes > _MAX_SEARCHED_BYTES:
        return None
    elements, data, has_view = array.reshape(-1), array.tobytes(), False
    for i, output in enumerate(outputs):
        if output.dtype != array.dtype or not output.size:
            continue
        position = data.find(output.tobytes())
        if position >= 0 and position % output.itemsize == 0:
            start = position // output.itemsize
            outputs[i] = elements[start : start + output.size].reshape(output.shape)
            has_view = True
    return outputs if has_view else None


def _reusing_buffers(length: int) -> Run:
    """Return outputs in a ring of `length` buffers for each position, type and shape."""
    buffers: dict[Hashable, list[Array]] = {}

    def in_buffer(position: int, output: Array) -> Array:
        ring = buffers.setdefault((position, output.dtype, output.shape), [])
        ring.append(output.copy() if len(ring) < length else ring.pop(0))
        ring[-1][...] = output
        return ring[-1]

    return lambda call, reference: [
        in_buffer(i, output) for i, output in enumerate(reference(call))
    ]


def _sharing_memory(call: ArrayCall, reference: RunReference) -> Outputs | None:
    outputs = list(reference(call))
    buffers: dict[Hashable, Array] = {}
    for output in outputs:
        buffer = buffers.setdefault((output.dtype, output.shape), output)
        buffer[...] = output
    shared = [buffers[output.dtype, output.shape] for output in outputs]
    return shared if len(buffers) < len(outputs) else None


def _cache_faults(signature: OperatorSignature) -> Iterator[Fault]:
    """Yield faults of a plan or a result that is kept under an incomplete key."""
    for argument in signature.spec.arguments:
        name = argument.name
        if name not in signature.data_arguments:
            yield Fault(
                f"plan-without-{name}",
                f"the plan of a call is kept for later calls with another {name}",
                partial(_reusing_plans, (name,), signature.data_arguments),
                "history",
            )
    yield Fault(
        "plan-by-shapes",
        "the plan of a call is kept for later calls with inputs of its types and shapes",
        partial(_reusing_plans, (*signature.integers,), signature.data_arguments),
        "history",
    )
    for name in signature.data:
        yield Fault(
            f"results-without-{name}",
            f"the results of a call are returned again for other elements of {name}",
            partial(_reusing_results, signature.data_arguments),
            "history",
        )
    keys: tuple[tuple[str, str, Callable[[Array], Hashable]], ...] = (
        ("type", "another type", lambda array: array.shape),
        ("shape", "another shape of the same size", lambda array: (array.dtype, array.size)),
        ("extents", "other extents", lambda array: (array.dtype, array.ndim)),
    )
    for name in signature.data:
        for key, text, key_of in keys:
            yield Fault(
                f"plan-without-{key}-of-{name}",
                f"the form of the results is kept for later calls with {text} of {name}",
                partial(_reusing_output_forms, name, key_of),
                "history",
            )
    yield Fault(
        "checked-once",
        "calls are accepted whose inputs have the types and shapes of a valid call before",
        partial(_checking_once, lambda _: ()),
        "history",
    )
    yield Fault(
        "checked-once-by-attributes",
        "calls are accepted whose attributes, types and shapes were valid before",
        partial(_checking_once, lambda call: repr(call.attributes)),
        "history",
    )
    yield Fault("alternating", "every third call is wrong", _wrong_every_third_time, "history")


def _value_key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return repr(value)


def _form_key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    return type(value), len(value) if isinstance(value, list) else 0


def _reusing_plans(missing: tuple[str, ...], data: tuple[str, ...]) -> Run:
    """Use the `missing` arguments of the first call that differs only in these and in data."""
    plans: dict[Hashable, ArrayCall] = {}

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        key = tuple(
            (
                name,
                _form_key(value) if argument_of(name) in (*missing, *data) else _value_key(value),
            )
            for name, value in {**call.inputs, **call.attributes}.items()
        )
        # An invalid call gets no plan.
        reference(call)
        planned = plans.setdefault(key, call)
        misread = call
        for name in missing:
            before, now = planned.argument(name), call.argument(name)
            if now is not None and _value_key(before) != _value_key(now):
                misread = misread.replaced(name, before)
        return None if misread is call else reference(misread)

    return run


def _reusing_results(data: tuple[str, ...]) -> Run:
    """Return the results of the first call that differs only in the elements of data."""
    results: dict[Hashable, list[Array]] = {}

    def run(call: ArrayCall, reference: RunReference) -> Outputs:
        key = tuple(
            (name, _form_key(value) if argument_of(name) in data else _value_key(value))
            for name, value in {**call.inputs, **call.attributes}.items()
        )
        if key not in results:
            results[key] = [output.copy() for output in reference(call)]
        return [output.copy() for output in results[key]]

    return run


def _reusing_output_forms(name: str, key_of: Callable[[Array], Hashable]) -> Run:
    """Return outputs in the types and shapes of an earlier call with the same key."""
    forms: dict[Hashable, list[Array]] = {}

    def run(call: ArrayCall, reference: RunReference) -> Any:
        outputs = list(reference(call))
        key = tuple(
            (argument, key_of(value) if argument == name else _value_key(value))
            for argument, value in {**call.inputs, **call.attributes}.items()
        )
        earlier = forms.setdefault(key, outputs)
        if [*map(_form_key, earlier)] == [*map(_form_key, outputs)]:
            return None
        return [np.zeros(output.shape, output.dtype) for output in earlier]

    return run


def _checking_once(key_of: Callable[[ArrayCall], Hashable]) -> Run:
    """Accept invalid calls that have the key, types and shapes of an earlier valid call."""
    valid: dict[Hashable, Outputs] = {}

    def run(call: ArrayCall, reference: RunReference) -> Any:
        forms = tuple((name, _form_key(array)) for name, array in call.inputs.items())
        key = key_of(call), forms
        try:
            outputs = reference(call)
        except Exception:
            if key not in valid:
                raise
            return valid[key]
        valid.setdefault(key, outputs)
        return None

    return run


def _wrong_every_third_time() -> Run:
    calls = 0

    def run(call: ArrayCall, reference: RunReference) -> Outputs | None:
        nonlocal calls
        outputs = reference(call)
        calls += 1
        return None if calls % 3 else [np.zeros_like(output) for output in outputs]

    return run
