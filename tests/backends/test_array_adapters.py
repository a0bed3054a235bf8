"""Array libraries as backends: calls that each of them computes, and bits that it preserves."""

from typing import Any

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.element_types import FOUR_BIT_TYPES
from opcert.backends.lookup import load
from opcert.errors import BackendError
from tests.backends.bits import assert_moves_bits
from tests.backends.calls import (
    SQUARE,
    calls_of_every_operator,
    differences,
    joined,
    padded,
    windowed,
)
from tests.backends.invalid_calls import BATCH
from tests.backends.runtimes import loaded, need, shared
from tests.layouts import LAYOUTS

VALID_CALLS = [
    *calls_of_every_operator("f32"),
    joined(BATCH, BATCH[..., :1], axis=3),
    windowed(SQUARE, [2, 2], (0, 2, -1), (0, 3, -2)),
    windowed(SQUARE, [1, 1], (1, 1, 5), (1, 2, 2)),
    *(
        padded(SQUARE, (1, 0), (0, 2), mode)
        for mode in ("constant", "edge", "reflect", "symmetric")
    ),
    padded(SQUARE, (1, 0), (2, 3), "constant", pad_value=np.array(7, np.float32)),
]
LIBRARIES: dict[str, tuple[str, dict[str, str]]] = {
    "torch": ("torch", {}),
    "jax": ("jax", {}),
    "array-api": ("array-api", {}),
    "array-api-strict": ("array-api", {"namespace": "array_api_strict"}),
}


@pytest.fixture(scope="module", params=LIBRARIES)
def backend(request: pytest.FixtureRequest) -> Any:
    name, options = LIBRARIES[request.param]
    return shared(name, **options)


def test_valid_calls_are_computed(backend: Any) -> None:
    calls = [call for call in VALID_CALLS if call[0] in backend.support]
    assert len(calls) > 10
    assert not differences(backend, calls)


def test_the_documented_examples_pass_bit_for_bit(backend: Any) -> None:
    certificate = certify(backend, case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


def test_bits_of_every_type_and_data_of_any_layout_are_preserved(backend: Any) -> None:
    for name in {*backend.support["openvino/Slice-8"]["types"]} - {*FOUR_BIT_TYPES}:
        assert_moves_bits(backend, name)
    assert_moves_bits(backend, "i32", *LAYOUTS.values())


def test_undeclared_operators_and_types_are_unsupported(backend: Any) -> None:
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        backend.run("vendor/Unknown-1", {}, {})
    if backend.name != "jax":
        with pytest.raises(NotImplementedError, match="i4"):
            assert_moves_bits(backend, "i4")


def test_the_version_names_the_namespace() -> None:
    assert loaded("array-api").version.startswith("numpy 2.")
    strict = loaded("array-api", namespace="array_api_strict")
    assert strict.version.startswith("array_api_strict ")


def test_a_missing_namespace_is_an_error() -> None:
    need("array-api")
    with pytest.raises(BackendError, match="needs the package no-such-namespace"):
        load("array-api", namespace="no_such_namespace")
