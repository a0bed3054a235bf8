"""What a wrong backend does with outputs, with memory and with what it keeps of a call."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from opcert.arrays.calls import argument_of, flatten_variadic, keys_of
from opcert.arrays.element_types import Array, bit_width, bits_of, invert_bits, type_name
from opcert.specification.model import Spec
from opcert.strength.facts import FinishedCall, Outputs

Named = tuple[str, Callable[[Any], Any]]


@dataclass(frozen=True)
class Turn:
    """What a backend knows in a call: the call, the one before it, and the reference.

    `run` runs the reference, within limits; its errors are passed on.
    """

    call: FinishedCall
    before: FinishedCall | None
    run: Callable[[FinishedCall], Outputs] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Effect:
    """What a backend does wrong, as a clause, in valid calls or in those that must be rejected.

    `apply` returns outputs, or None where nothing is wrong; an exception is a rejection.
    """

    text: str
    apply: Callable[[Turn], Outputs | None] = field(repr=False)
    on_valid: bool = True
    uses_before: bool = False


def changed(call: FinishedCall, name: str, value: Any) -> FinishedCall:
    """Return a call with another value of an argument; None omits it."""
    inputs = {key: array for key, array in call.inputs.items() if argument_of(key) != name}
    attributes = {key: item for key, item in call.attributes.items() if key != name}
    if value is not None and len(inputs) < len(call.inputs):
        inputs |= flatten_variadic({name: value})
    elif value is not None:
        attributes[name] = value
    return replace(call, inputs=inputs, attributes=attributes)


# -- outputs


def masked(mask_of: Callable[[int], int], array: Array) -> Array:
    """Return an array with the bits that `mask_of` the width of an element keeps."""
    bits = bits_of(array)
    bits &= bits.dtype.type(mask_of(bit_width(type_name(array.dtype))))
    return bits.view(array.dtype)


LOWER_HALF = partial(masked, lambda n: (1 << n) - (1 << (n // 2)))


def _reject(turn: Turn) -> Outputs | None:
    raise ValueError(turn.call.text)


def _accept(_: Turn) -> Outputs | None:
    return [np.zeros(())]


def _spoil(position: int, spoil: Callable[[Array], Array], turn: Turn) -> Outputs | None:
    outputs = [*(turn.call.outputs or ())]
    if not outputs or not outputs[position].size:
        return None
    outputs[position] = spoil(np.array(outputs[position], order="C"))
    return outputs


def _with_wrong_element(place: Callable[[int], int], output: Array) -> Array:
    element = output.reshape(-1)[place(output.size) :][:1]
    element[...] = invert_bits(element)
    return output


def _half_written(output: Array) -> Array:
    output.reshape(-1)[output.size // 2 :] = np.zeros((), output.dtype)
    return output


_SPOILS: Sequence[Named] = (
    ("has a wrong last element", partial(_with_wrong_element, lambda size: size - 1)),
    ("has a wrong first element", partial(_with_wrong_element, lambda _: 0)),
    ("has a wrong element in its middle", partial(_with_wrong_element, lambda size: size // 2)),
    ("is shifted by one element", lambda output: np.roll(output, 1)),
    ("is written only in its first half", _half_written),
    ("loses the lower half of each element", LOWER_HALF),
    ("lacks its last row", lambda output: output[:-1] if output.ndim else output),
    ("has one dimension more", lambda output: output[None]),
)
REJECTION = Effect("the call is rejected", _reject)
ACCEPTANCE = Effect("the invalid call is accepted", _accept, False)
WRONG_ELEMENT, *_OTHERS = (
    Effect(f"the {which} output {text}", partial(_spoil, place, spoil))
    for which, place in (("first", 0), ("last", -1))
    for text, spoil in _SPOILS
)
# Wherever these act, they are wrong, so that conditions must restrict them.
CORRUPTIONS = (REJECTION, ACCEPTANCE, WRONG_ELEMENT, *_OTHERS)


def _rearrange(arrange: Callable[[list[Array]], list[Array]], turn: Turn) -> Outputs | None:
    return arrange([*(turn.call.outputs or ())])


OUTPUT_LISTS = tuple(
    Effect(text, partial(_rearrange, arrange))
    for text, arrange in (
        ("outputs are returned in reverse order", lambda outputs: outputs[::-1]),
        ("the last two outputs are exchanged", lambda outputs: outputs[:-2] + outputs[:-3:-1]),
        ("the first output is missing", lambda outputs: outputs[1:]),
        ("the last output is missing", lambda outputs: outputs[:-1]),
        ("every output is the first one", lambda outputs: outputs[:1] * len(outputs)),
        ("outputs without elements are missing", lambda outputs: [o for o in outputs if o.size]),
        ("outputs lose their dimensions of 1", lambda outputs: [o.squeeze() for o in outputs]),
        ("scalar outputs have the shape [1]", lambda outputs: [np.atleast_1d(o) for o in outputs]),
    )
)

# -- memory and state


def memory_faults(spec: Spec, data: frozenset[str]) -> Iterator[Effect]:
    """Yield ways to share memory with the caller, and to keep what the call before had."""
    for name in sorted(data):
        yield Effect(f"{name} itself is returned where an output equals it", partial(_alias, name))
    same = "where types and shapes are those of the call before"
    for argument in spec.arguments:
        if argument.name not in data:
            text = f"{argument.name} of the call before is used again {same}"
            yield Effect(text, partial(_keep_argument, argument.name), uses_before=True)
    yield Effect(f"former results are returned {same}", _keep_results, uses_before=True)
    yield Effect(f"an invalid call is accepted {same}", _keep_check, False, uses_before=True)


def _alias(name: str, turn: Turn) -> Outputs | None:
    """Return what the caller sees after it has put inverted data into the memory of an input."""
    inputs = [turn.call.inputs[key] for key in keys_of(name, turn.call.inputs)]
    values = [(array.dtype, array.shape, array.tobytes()) for array in inputs]
    return [
        invert_bits(np.array(o)) if (o.dtype, o.shape, o.tobytes()) in values else o
        for o in turn.call.outputs or ()
    ]


def _former(turn: Turn) -> FinishedCall | None:
    """Return the call before, if it is valid and has inputs of the same types and shapes."""
    before = turn.before
    if before is None or before.outputs is None or before.forms != turn.call.forms:
        return None
    return before


def _keep_argument(name: str, turn: Turn) -> Outputs | None:
    former, call = _former(turn), turn.call
    if former is None or not (name in call.arguments and name in former.arguments):
        return None
    return turn.run(changed(call, name, former.arguments[name]))


def _keep_results(turn: Turn) -> Outputs | None:
    former = _former(turn)
    return None if former is None else former.outputs


def _keep_check(turn: Turn) -> Outputs | None:
    return None if _former(turn) is None else _accept(turn)
