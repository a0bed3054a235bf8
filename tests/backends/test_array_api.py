"""The array-API adapter, where array-api-compat and array-api-strict are installed."""

import pytest

from opcert import certify
from opcert.arrays.layouts import LAYOUTS, Layout
from opcert.backends.array_api import TYPES
from opcert.backends.lookup import load
from opcert.errors import BackendError
from tests.backends.bits import are_identical, move_bits

NEEDED = "needs the extra array-api"
pytest.importorskip("array_api_compat", reason=NEEDED, exc_type=ImportError)
pytest.importorskip("array_api_strict", reason=NEEDED, exc_type=ImportError)
NAMESPACES = ["numpy", "array_api_strict"]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_documented_examples_pass_bit_for_bit(namespace: str) -> None:
    certificate = certify(load("array-api", namespace=namespace), case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("name", TYPES)
def test_bits_are_preserved(namespace: str, name: str) -> None:
    assert are_identical(move_bits(load("array-api", namespace=namespace), name))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_data_of_any_layout_is_read(layout: Layout) -> None:
    assert are_identical(move_bits(load("array-api", namespace="array_api_strict"), "i32", layout))


def test_undeclared_operators_and_types_are_unsupported() -> None:
    backend = load("array-api")
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        backend.run("vendor/Unknown-1", {}, {})
    with pytest.raises(NotImplementedError, match="bf16"):
        move_bits(backend, "bf16")


def test_the_version_names_the_namespace() -> None:
    assert load("array-api").version.startswith("numpy 2.")
    strict = load("array-api", namespace="array_api_strict")
    assert strict.version.startswith("array_api_strict ")


def test_a_missing_namespace_is_an_error() -> None:
    with pytest.raises(BackendError, match="needs the package no-such-namespace"):
        load("array-api", namespace="no_such_namespace")
