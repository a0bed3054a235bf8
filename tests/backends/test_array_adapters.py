"""Array libraries as backends: calls that each of them computes, and what its adapter rejects."""

from typing import Any

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.element_types import FOUR_BIT_TYPES
from opcert.backends.contract import Backend
from opcert.backends.lookup import load
from opcert.backends.reference import Reference
from opcert.errors import BackendError
from tests.backends.bits import are_identical, move_bits
from tests.backends.calls import (
    SQUARE,
    Call,
    calls_of_every_operator,
    describe_difference,
    int64s,
    joined,
    make_call,
    scattered,
    windowed,
)
from tests.layouts import LAYOUTS

BATCH = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
AXIS: dict[str, Any] = {"axis": 0}
VALID_CALLS = [
    *calls_of_every_operator("f32"),
    joined(BATCH, BATCH[..., :1], axis=3),
    windowed(SQUARE, [2, 2], (0, 2, -1), (0, 3, -2)),
    windowed(SQUARE, [1, 1], (1, 1, 5), (1, 2, 2)),
    *(
        (
            "openvino/Pad-1",
            {"data": SQUARE, "pads_begin": int64s(1, 0), "pads_end": int64s(0, 2)},
            {"pad_mode": mode},
        )
        for mode in ("constant", "edge", "reflect", "symmetric")
    ),
    (
        "openvino/Pad-1",
        {
            "data": SQUARE,
            "pads_begin": int64s(1, 0),
            "pads_end": int64s(2, 3),
            "pad_value": np.array(7, np.float32),
        },
        {"pad_mode": "constant"},
    ),
]
INVALID_CALLS: dict[str, Call] = {
    "parts": ("openvino/Split-1", {"data": SQUARE, "axis": np.array(1)}, {"num_splits": 2}),
    "no parts": ("openvino/Split-1", {"data": SQUARE, "axis": np.array(1)}, {"num_splits": 0}),
    "axis": ("openvino/Split-1", {"data": SQUARE, "axis": int64s(1)}, {"num_splits": 3}),
    "types": ("openvino/Concat-1", {"inputs": [SQUARE, SQUARE.astype(np.float64)]}, AXIS),
    "ranks": ("openvino/Concat-1", {"inputs": [SQUARE, np.zeros(0, np.float32)]}, AXIS),
    "order": ("openvino/Transpose-1", {"arg": SQUARE, "input_order": int64s(0, -1)}, {}),
    "sizes": ("openvino/Reshape-1", {"data": SQUARE, "shape": int64s(6)}, {"special_zero": 1}),
    "indices": (
        "openvino/GatherElements-6",
        {"data": SQUARE, "indices": np.zeros((1, 2), np.int64)},
        {"axis": 1},
    ),
    "updates": scattered(SQUARE, np.zeros((2, 1), np.int64), SQUARE[:, :2], 1),
    "more updates": scattered(SQUARE, np.zeros((2, 4), np.int64), np.zeros((2, 4), "f4"), 1),
    "float indices": scattered(SQUARE, np.zeros((0, 1), "f4"), np.zeros((0, 1), "f4"), 1),
    "described": joined(BATCH, BATCH, axis=3, DataType="INT32"),
    "empty": joined(BATCH, BATCH[..., :0], axis=3),
    "negative axis": joined(BATCH, BATCH, axis=-1),
    "window": windowed(SQUARE, [2, 3], (0, 2, 1), (1, 3, 1)),
    "stride": windowed(SQUARE, [2, 1], (0, 2, 1), (0, 3, 0)),
    "wide stride": windowed(SQUARE, [2, 1], (0, 2, 1), (0, 3, 2**32)),
    "too many": windowed(SQUARE, [2, 2], (0, 2, 1), (0, 3, 3)),
    **{
        f"pads {mode} {begin} {end}": (
            "openvino/Pad-1",
            {"data": SQUARE, "pads_begin": int64s(*begin), "pads_end": int64s(*end)},
            {"pad_mode": mode},
        )
        for mode, begin, end in (
            ("wrap", (0, 0), (0, 0)),
            ("constant", (0, -1), (0, 0)),
            ("edge", (0, 0), (0,)),
            ("reflect", (0, 0), (2, 0)),
            ("symmetric", (0, 4), (0, 0)),
        )
    },
}


LIBRARIES: dict[str, tuple[str, dict[str, str]]] = {
    "torch": ("torch", {}),
    "jax": ("jax", {}),
    "array-api": ("array-api", {}),
    "array-api-strict": ("array-api", {"namespace": "array_api_strict"}),
}


@pytest.fixture(scope="module", params=LIBRARIES)
def backend(request: pytest.FixtureRequest) -> Backend:
    name, options = LIBRARIES[request.param]
    try:
        return load(name, **options)
    except BackendError as error:
        pytest.skip(str(error))


def test_valid_calls_are_computed(backend: Backend) -> None:
    support = backend.support  # type: ignore[attr-defined]
    calls = [call for call in VALID_CALLS if call[0] in support]
    assert len(calls) > 10
    reference = Reference()
    assert [describe_difference(backend, reference, call) for call in calls] == [""] * len(calls)


@pytest.mark.parametrize("name", INVALID_CALLS)
def test_calls_that_libraries_would_compute_are_rejected(backend: Backend, name: str) -> None:
    call = INVALID_CALLS[name]
    raised, _ = make_call(backend, call)
    assert raised
    is_supported = call[0] in backend.support  # type: ignore[attr-defined]
    assert (raised == "NotImplementedError") == (not is_supported)


def test_the_documented_examples_pass_bit_for_bit(backend: Backend) -> None:
    certificate = certify(backend, case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


def test_bits_of_every_type_and_data_of_any_layout_are_preserved(backend: Backend) -> None:
    declared = backend.support["openvino/Slice-8"]  # type: ignore[attr-defined]
    for name in {*declared["types"]} - {*FOUR_BIT_TYPES}:
        found = move_bits(backend, name)
        # Where XLA fuses, it computes with narrow floats in wider ones, and may quiet them.
        fused = backend.name == "jax" and name in ("bf16", "f8e5m2")
        assert are_identical(found[:4] if fused else found), name
    for layout in LAYOUTS.values():
        assert are_identical(move_bits(backend, "i32", layout)), layout


def test_undeclared_operators_and_types_are_unsupported(backend: Backend) -> None:
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        backend.run("vendor/Unknown-1", {}, {})
    if backend.name != "jax":
        with pytest.raises(NotImplementedError, match="i4"):
            move_bits(backend, "i4")


def test_the_version_names_the_namespace() -> None:
    pytest.importorskip("array_api_strict", reason="needs the extra array-api")
    assert load("array-api").version.startswith("numpy 2.")
    strict = load("array-api", namespace="array_api_strict")
    assert strict.version.startswith("array_api_strict ")


def test_a_missing_namespace_is_an_error() -> None:
    pytest.importorskip("array_api_strict", reason="needs the extra array-api")
    with pytest.raises(BackendError, match="needs the package no-such-namespace"):
        load("array-api", namespace="no_such_namespace")
