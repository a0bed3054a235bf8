"""Outputs of the wrong number, type, byte order or shape, with the right elements."""

from collections.abc import Callable

import numpy as np

from opcert.arrays.element_types import Array
from tests.faults.calls import data, dml_call, split_call, whole
from tests.faults.fault import DML, OPERATORS, SPLIT, Call, Fault, Outputs, Writer


def _each(change: Callable[[Array], Array]) -> Callable[[Call, Outputs], Outputs]:
    return lambda _, outputs: [change(each) for each in outputs]


def _as_stored(array: Array) -> Array:
    """Return types that NumPy lacks as the unsigned integers that hold them."""
    plain = array.dtype.isbuiltin == 1
    return array if plain else array.view(f"u{array.itemsize}")


def _faults(operator: str) -> list[Fault]:
    number, form = Writer(operator, "output number"), Writer(operator, "output form")
    small, floats = whole(operator, data(2, 3)), whole(operator, data(2, 3, of="f16"))
    return [
        number.returns(
            "bare-array",
            "returns a single output without a list",
            lambda _, outputs: outputs[0] if len(outputs) == 1 else outputs,
            small,
        ),
        number.returns(
            "one-output-more",
            "returns its workspace as well",
            lambda _, outputs: [*outputs, np.zeros(4, np.uint8)],
            small,
        ),
        form.returns(
            "f16-as-f32",
            "returns f16 as f32",
            _each(lambda a: a.astype(np.float32) if a.dtype == np.float16 else a),
            floats,
        ),
        form.returns(
            "big-endian",
            "returns 16-bit elements in the other byte order, and says so",
            _each(lambda a: a.astype(a.dtype.newbyteorder(">")) if a.dtype == np.int16 else a),
            whole(operator, data(2, 3, of="i16")),
        ),
        form.returns("flat", "returns its flat buffer", _each(lambda a: a.reshape(-1)), small),
        *_types_that_numpy_lacks(form),
    ]


def _types_that_numpy_lacks(form: Writer) -> list[Fault]:
    if form.operator == DML:
        return []
    return [
        form.returns(
            "bool-as-u8",
            "returns boolean as u8",
            _each(lambda a: a.view(np.uint8) if a.dtype == np.bool_ else a),
            whole(form.operator, data(2, 3, of="boolean")),
        ),
        form.returns(
            "bits-as-integers",
            "returns bf16 and f8 as unsigned integers",
            _each(_as_stored),
            whole(form.operator, data(2, 3, of="bf16")),
        ),
    ]


_PARTS = {SPLIT: split_call(data(6, 2), 0, [3, 2, 1]), DML: dml_call(data(6, 2), 0, [3, 2, 1])}


def _of_splits(operator: str) -> list[Fault]:
    write, parts = Writer(operator, "output number"), _PARTS[operator]
    return [
        write.returns("last-dropped", "forgets the last part", _last_dropped, parts),
        write.returns(
            "stacked",
            "returns equal parts as one stacked array",
            lambda _, out: np.stack(out) if len({each.shape for each in out}) == 1 else out,
            whole(operator, data(6, 2)),
        ),
        write.returns(
            "eight-at-most",
            "returns the first eight parts",
            lambda _, outputs: outputs[:8],
            dml_call(data(9), 0, [1] * 9) if operator == DML else split_call(data(9), 0, [1] * 9),
        ),
    ]


def _last_dropped(_: Call, outputs: Outputs) -> Outputs:
    return outputs[:-1] if len(outputs) > 2 else outputs


FAULTS = [
    *(fault for operator in OPERATORS for fault in _faults(operator)),
    *(fault for operator in _PARTS for fault in _of_splits(operator)),
]
