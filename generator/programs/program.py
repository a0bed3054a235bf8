"""Calls as text -> a program that makes them on a backend and fails where one goes wrong."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MEMORY = """\
def memory(array):
    return array if array.base is None else array.base
"""
_CHECK = """\
def check(outputs, expected):
    assert isinstance(outputs, (list, tuple)), type(outputs)
    assert len(outputs) == len(expected), f"{len(outputs)} outputs; expected {len(expected)}"
    for output, wanted in zip(outputs, expected):
        assert isinstance(output, np.ndarray), type(output)
        assert output.dtype == wanted.dtype, f"{output.dtype}; expected {wanted.dtype}"
        assert output.shape == wanted.shape, f"{output.shape}; expected {wanted.shape}"
"""
_CHECK_BYTES = """\
        assert output.tobytes() == wanted.tobytes(), f"{output}\\nexpected\\n{wanted}"
"""
_CHECK_DIGEST = """\
        assert sha256(output.tobytes()).hexdigest() == wanted.sha256, "other elements"
"""
_CALL = """\
returned = []


def call(operator, inputs, attributes, expected):
    before = {name: memory(array).copy() for name, array in inputs.items()}
    outputs = backend.run(operator, inputs, attributes)
    for name, array in before.items():
        assert memory(inputs[name]).tobytes() == array.tobytes(), f"wrote to its input {name}"
    for earlier in returned:
        check(*earlier)  # what was returned stays as it was
    check(outputs, expected)
    returned.append((outputs, expected))
"""
_REJECT = """\
def reject(operator, inputs, attributes):
    before = {name: memory(array).copy() for name, array in inputs.items()}
    try:
        backend.run(operator, inputs, attributes)
    except Exception:
        for name, array in before.items():
            assert memory(inputs[name]).tobytes() == array.tobytes(), f"wrote to its input {name}"
    else:
        raise AssertionError("a call that breaks a rule was accepted")
"""
_MADE = """\
def made(seed, width, dtype, shape):
    # An array too large for the pack: in C order, the upper bits of what SplitMix64 gives.
    z = np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = (z ^ (z >> np.uint64(31))) >> np.uint64(64 - width)
    return bits.astype(f"u{np.dtype(dtype).itemsize}").view(dtype).reshape(shape)
"""
_INVERTED = """\
def inverted(array, width):
    # The same array with the other value of every bit.
    bits = array.view(f"u{array.itemsize}")
    return (bits ^ bits.dtype.type((1 << width) - 1)).view(array.dtype)
"""
_DIGEST = """\
# An output too large to print, by the SHA-256 of its elements in C order.
Digest = namedtuple("Digest", "dtype shape sha256")"""
_PACK = """\
# Arrays too large to print, by their names in the suite's pack.
names = [
{names}]
with np.load({path!r}) as pack:
    stored = {{name: pack[name] for name in names}}"""
# Why the last call of a program does not come back.
_ENDINGS = {
    "crash": "the process of the backend ends in this call",
    "hang": "this call does not return in time",
    "protocol": "the answer to this call cannot be understood",
}


@dataclass(frozen=True)
class InputText:
    """An input as an expression; inputs of one `form` fit the same buffer."""

    expression: str
    form: tuple[object, ...]


@dataclass(frozen=True)
class CallText:
    """A call as text; `expected` are its outputs, or None where it has to be rejected.

    `ending` says that the call does not come back: crash, hang or protocol.
    """

    remark: str
    operator: str
    inputs: Mapping[str, InputText]
    attributes: Mapping[str, Any]
    expected: Sequence[str] | None
    ending: str | None = None

    def same_call(self, other: "CallText") -> bool:
        """Whether the calls differ in their remarks alone."""
        mine, theirs = (
            (each.operator, each.inputs, each.attributes, each.expected, each.ending)
            for each in (self, other)
        )
        return mine == theirs


def program(
    calls: Sequence[CallText],
    backend: str | None,
    remarks: Sequence[str] = (),
    pack: str | None = None,
) -> str:
    """Return a program that makes `calls`, one after the other, and fails where one goes wrong.

    `backend` are lines that make `backend`; without them, the program ends in front of the last
    call. `pack` is the path of the suite's pack, for arrays that are too large to print. The
    program needs NumPy, what the lines of `backend` import, and ml_dtypes where NumPy lacks a type.
    """
    body = "\n".join(_body(calls, backend))
    digests = "Digest(" in body
    calls_one, rejects_one = "call(" in body and backend, "reject(" in body and backend
    definitions = [_MADE] * ("made(" in body) + [_INVERTED] * ("inverted(" in body)
    definitions += [_MEMORY] if calls_one or rejects_one else []
    definitions += [_CHECK + (_CHECK_DIGEST if digests else _CHECK_BYTES), _CALL] * bool(calls_one)
    definitions += [_REJECT] if rejects_one else []
    standard = ["from collections import namedtuple"] * digests
    standard += ["from hashlib import sha256"] * bool(digests and calls_one)
    imports = [*standard, *[""] * bool(standard), *["import ml_dtypes"] * ("ml_dtypes." in body)]
    head = ["\n".join([*(f"# {each}" for each in remarks), *imports, "import numpy as np"])]
    head += [backend] if backend is not None else []
    head += [_DIGEST] if digests else []
    if names := dict.fromkeys(re.findall(r'stored\["([^"]+)"\]', body)):
        head.append(_PACK.format(path=pack, names="".join(f"    {name!r},\n" for name in names)))
    text = "\n\n".join(head)
    return text + ("\n\n\n" + "\n\n".join(definitions) if definitions else "\n") + f"\n{body}\n"


def _body(calls: Sequence[CallText], backend: str | None) -> list[str]:
    lines: list[str] = []
    before: CallText | None = None
    position = 0
    while position < len(calls):
        length, times = _repetition(calls, position)
        block = calls[position : position + length]
        indent = "    " if times > 1 else ""
        lines += [f"for _ in range({times}):"] if times > 1 else []
        for written in block:
            # Within a loop, the call before is the last of the block from the second time on.
            if times > 1 and written is block[0] and not _fits(written, block[-1]):
                before = None
            whole = times > 1 and length > 1
            lines += [indent + line for line in _call(written, before, backend, whole)]
            before = written
        position += length * times
    return lines


def _repetition(calls: Sequence[CallText], position: int) -> tuple[int, int]:
    """Return how many calls from `position` on are repeated, and how many times they are made."""
    for length in (1, 2):
        block = calls[position : position + length]
        times = 1
        while True:
            start = position + times * length
            again = calls[start : start + length]
            if len(again) < length or not all(map(CallText.same_call, block, again)):
                break
            times += 1
        # Two calls in a row read better than a loop.
        if times > 2:
            return length, times
    return 1, 1


def _fits(written: CallText, before: CallText | None) -> bool:
    """Whether a call can have the buffers of the one before it."""
    return before is not None and {n: i.form for n, i in written.inputs.items()} == {
        n: i.form for n, i in before.inputs.items()
    }


def _call(
    written: CallText, before: CallText | None, backend: str | None, refill_all: bool
) -> list[str]:
    lines = [f"# {written.remark}"] if written.remark else []
    if before is not None and _fits(written, before):
        # The caller fills its buffers again, as most callers do.
        lines += [
            f'inputs["{name}"][...] = {given.expression}'
            for name, given in written.inputs.items()
            if refill_all or given != before.inputs[name]
        ]
    else:
        lines.append("inputs = {")
        lines += [f'    "{name}": {given.expression},' for name, given in written.inputs.items()]
        lines.append("}")
    if before is None or written.attributes != before.attributes or refill_all:
        lines.append(f"attributes = {dict(written.attributes)!r}")
    arguments = f'"{written.operator}", inputs, attributes'
    if written.ending is not None:
        lines.append(f"# {_ENDINGS[written.ending]}")
        if backend is not None:
            lines += [f"backend.run({arguments})", 'print("the last call has returned")']
        return lines
    if written.expected is None:
        return [*lines, _or_comment(f"reject({arguments})", backend, "raise an exception")]
    if before is None or written.expected != before.expected or refill_all:
        lines += ["expected = [", *(f"    {each}," for each in written.expected), "]"]
    return [*lines, _or_comment(f"call({arguments}, expected)", backend, "return what is expected")]


def _or_comment(line: str, backend: str | None, wanted: str) -> str:
    """Return a call, or what it would have to do where there is no backend to make it on."""
    if backend is not None:
        return line
    arguments = re.sub(r"^\w+\(|(, expected)?\)$", "", line)
    return f"# backend.run({arguments}) has to {wanted}"
