"""A case of a suite -> a Python program that makes its call: NumPy alone, or a backend too."""

from hashlib import sha256
from math import prod

from opcert.generator.arrays.element_types import ELEMENT_TYPES, width_of
from opcert.generator.pages.python_text import (
    CALL,
    CHECK,
    CHECK_DIGESTS,
    REJECT,
    array_text,
    dtype_text,
    laid_out_text,
)
from opcert.generator.pages.reasons import reason_of
from opcert.generator.suite.format import DigestedArray, IndexedCase, MadeArray, StoredArray
from opcert.generator.suite.operator_suite import OperatorSuite

# Of up to how many elements a program lists the values; more are read from the pack.
_LISTED = 64
_DIGEST = """\
# An output too large to print, by the SHA-256 of its elements in C order.
Digest = namedtuple("Digest", "dtype shape sha256")"""
_PACK = """\
# Arrays too large to print, by their names in the suite's pack.
names = [
{names}]
with np.load({path!r}) as pack:
    stored = {{name: pack[name] for name in names}}"""
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


def program_of(operator: OperatorSuite, case: IndexedCase, backend: str | None = None) -> str:
    """Return a program with the inputs, attributes and expected outputs of a case.

    It needs NumPy, and ml_dtypes where NumPy lacks a type; where arrays are too large to print,
    the suite's pack. `backend` are lines that make `backend`: with them it makes the call, and
    fails where the outcome is another than expected.
    """
    program = _Program(operator, case)
    rejected = case.expects == "rejection"
    expected = [] if rejected else ["expected = [", *program.expected(), "]"]
    call = ["inputs = {", *program.inputs(), "}", f"attributes = {dict(case.attributes)!r}"]
    arguments = f'"{operator.index.operator}", inputs, attributes'
    if backend is None:
        end = f"# backend.run({arguments})"
        end += " has to raise an exception" if rejected else " has to return what is expected"
    else:
        end = f"reject({arguments})" if rejected else f"call({arguments}, expected)"
    lines = "\n".join([*call, *expected, end])
    return program.whole(lines, backend)


def stands_alone(case: IndexedCase) -> bool:
    """Whether the program of a case needs no file of the suite."""
    stored = (a for a in (*case.inputs.values(), *case.outputs) if isinstance(a, StoredArray))
    return all(prod(array.shape) <= _LISTED for array in stored)


class _Program:
    """The parts of the program of one case."""

    def __init__(self, operator: OperatorSuite, case: IndexedCase) -> None:
        self.operator = operator
        self.case = case
        # The names in the pack of the arrays that were too large to print.
        self.stored: dict[str, None] = {}
        self.digested = any(isinstance(each, DigestedArray) for each in case.outputs)

    def inputs(self) -> list[str]:
        """Return a line for each input, laid out in memory as the case has it."""
        given = self.case.inputs.items()
        texts = {n: laid_out_text(self._array(each), each.shape, each.layout) for n, each in given}
        return [f'    "{name}": {text},' for name, text in texts.items()]

    def expected(self) -> list[str]:
        """Return a line for each output; where one is too large to print, digests of all."""
        texts = (
            self._digest(each)
            if self.digested or isinstance(each, DigestedArray)
            else self._array(each)
            for each in self.case.outputs
        )
        return [f"    {text}," for text in texts]

    def whole(self, lines: str, backend: str | None) -> str:
        """Return the program whose last part is `lines`."""
        checks = [_MADE] if "made(" in lines else []
        if backend is not None and self.case.expects == "rejection":
            checks.append(REJECT)
        elif backend is not None:
            checks += [CHECK_DIGESTS if self.digested else CHECK, CALL]
        parts = ["\n".join([*self._remarks(), *self._imports(lines, backend)])]
        parts += [backend] if backend is not None else []
        parts += [_DIGEST] if self.digested else []
        if self.stored:
            path = str((self.operator.folder / self.operator.entry.pack).resolve())
            listed = "".join(f"    {name!r},\n" for name in self.stored)
            parts.append(_PACK.format(path=path, names=listed))
        head, body = "\n\n".join(parts), "\n\n".join(checks)
        return f"{head}\n\n\n{body}\n\n{lines}\n" if body else f"{head}\n\n{lines}\n"

    def _imports(self, lines: str, backend: str | None) -> list[str]:
        standard = ["from collections import namedtuple"] if self.digested else []
        standard += ["from hashlib import sha256"] if standard and backend is not None else []
        blank = [""] if standard else []
        ml_dtypes = ["import ml_dtypes"] if "ml_dtypes." in lines else []
        return [*standard, *blank, *ml_dtypes, "import numpy as np"]

    def _remarks(self) -> list[str]:
        case = self.case
        told = [f"# {case.id}: {' '.join(reason_of(self.operator, case).split())}"]
        if case.rule is not None:
            rule = self.operator.index.rules[case.rule]
            told += [f"# It breaks {case.rule} ({' '.join(rule.clause.split())})."]
        if case.ambiguity is not None:
            told += ["# The document leaves it open; what is expected is what the reference does."]
        return told

    def _array(self, given: StoredArray | MadeArray) -> str:
        dtype = ELEMENT_TYPES[given.type]
        if isinstance(given, MadeArray):
            width = width_of(given.type)
            return f"made({given.seed}, {width}, {dtype_text(dtype)}, {given.shape})"
        array = self.operator.array_of(given)
        if array.size <= _LISTED:
            return array_text(array)
        view = f".view({dtype_text(dtype)})" if dtype.isbuiltin != 1 else ""
        self.stored.setdefault(given.array)
        # A copy, since two arrays of the same elements are stored once.
        return f'stored["{given.array}"]{view}.copy()'

    def _digest(self, given: StoredArray | DigestedArray) -> str:
        digest = given.sha256 if isinstance(given, DigestedArray) else ""
        if isinstance(given, StoredArray):
            digest = sha256(self.operator.array_of(given).tobytes()).hexdigest()
        dtype = dtype_text(ELEMENT_TYPES[given.type])
        return f'Digest(np.dtype({dtype}), {given.shape}, "{digest}")'
