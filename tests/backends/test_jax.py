"""The JAX adapter, where JAX is installed."""

import numpy as np
import pytest

from opcert.generator import certify
from opcert.generator.arrays.layouts import LAYOUTS, Layout
from opcert.generator.backends import jax as adapter
from opcert.generator.backends import load, reuse_of
from opcert.generator.errors import BackendError
from tests.backends.bits import moved, same

jax = pytest.importorskip("jax", reason="needs the extra jax", exc_type=ImportError)


def test_the_documented_examples_pass_bit_for_bit() -> None:
    certificate = certify(load("jax"), case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


@pytest.mark.parametrize("name", ["boolean", "bf16", "f32", "f64", "f8e5m2", "i64", "u64"])
def test_bits_are_kept(name: str) -> None:
    found = moved(load("jax"), name)
    # XLA computes with narrow floats in wider ones where it fuses, and may flush and quiet them.
    assert same(found[:4] if name in ("bf16", "f8e5m2") else found)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_of_any_layout_is_read(layout: Layout) -> None:
    assert same(moved(load("jax"), "i32", layout))


def test_types_of_64_bits_stay_within_the_call() -> None:
    moved(load("jax"), "f64")
    assert jax.numpy.arange(2).dtype == np.int32


def test_an_unknown_operator_is_declined() -> None:
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        load("jax").run("vendor/Unknown-1", {}, {})


def test_what_was_compiled_is_dropped_regularly(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[bool] = []
    monkeypatch.setattr(adapter, "KEPT_CALLS", 3)
    backend = load("jax")
    monkeypatch.setattr(jax, "clear_caches", lambda: dropped.append(True))
    moved(backend, "f32")
    assert len(dropped) == 1


def test_with_the_cache_off_it_is_dropped_before_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[bool] = []
    backend = load("jax", cache="off")
    monkeypatch.setattr(jax, "clear_caches", lambda: dropped.append(True))
    assert len(moved(backend, "f32")) > len(dropped) > 3
    assert "nothing" in (reuse_of(backend) or "")
    with pytest.raises(BackendError, match="cache=no; expected on or off"):
        load("jax", cache="no")


def test_the_runtime_checks_what_it_is_given() -> None:
    call = {"data": np.arange(4), "axis": np.array(0), "split_lengths": np.array([1, 2])}
    with pytest.raises(ValueError, match="Sum of sizes 3"):
        load("jax").run("openvino/VariadicSplit-1", call, {})
