"""The JAX adapter, where JAX is installed."""

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.layouts import LAYOUTS, Layout
from opcert.backends.contract import declared_reuse
from opcert.backends.lookup import load
from opcert.errors import BackendError
from tests.backends.bits import are_identical, move_bits
from tests.backends.calls import SQUARE, Call, make_call, sliced, split

jax = pytest.importorskip("jax", reason="needs the extra jax", exc_type=ImportError)


def test_the_documented_examples_pass_bit_for_bit() -> None:
    certificate = certify(load("jax"), case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


@pytest.mark.parametrize("name", ["boolean", "bf16", "f32", "f64", "f8e5m2", "i64", "u64"])
def test_bits_are_preserved(name: str) -> None:
    found = move_bits(load("jax"), name)
    # XLA computes with narrow floats in wider ones where it fuses, and may flush and quiet them.
    assert are_identical(found[:4] if name in ("bf16", "f8e5m2") else found)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_data_of_any_layout_is_read(layout: Layout) -> None:
    assert are_identical(move_bits(load("jax"), "i32", layout))


def test_types_of_64_bits_stay_within_the_call() -> None:
    move_bits(load("jax"), "f64")
    assert jax.numpy.arange(2).dtype == np.int32


def test_an_unknown_operator_is_unsupported() -> None:
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        load("jax").run("vendor/Unknown-1", {}, {})


def drops(monkeypatch: pytest.MonkeyPatch, *calls: Call) -> list[int]:
    """Return before which of the calls JAX's caches are dropped."""
    backend, made = load("jax"), 0
    dropped: list[int] = []
    monkeypatch.setattr(jax, "clear_caches", lambda: dropped.append(made))
    for call in calls:
        make_call(backend, call)
        made += 1
    return dropped


VALID = split(SQUARE, 1, 2)


@pytest.mark.parametrize(
    "invalid",
    [
        split(SQUARE, 1, 1, 1),
        split(SQUARE, 1, 2, axis=7),
        split(SQUARE[:, :1], 1, 2),
        (VALID[0], {name: VALID[1][name] for name in ("axis", "split_lengths")}, {}),
        (VALID[0], VALID[1], {"axis": 1}),
    ],
    ids=["lengths", "axis", "data", "no data", "attribute"],
)
def test_a_valid_call_and_its_invalid_variants_share_a_cache(
    invalid: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drops(monkeypatch, invalid, invalid, VALID, invalid) == [0]


def test_compiled_code_is_dropped_before_a_call_of_another_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = split(SQUARE.T, 1, 1, 1, axis=0)
    assert drops(monkeypatch, VALID, VALID, other, VALID, sliced(SQUARE, 0, 1, 1)) == [0, 2, 3, 4]


def test_with_the_cache_off_compiled_code_is_dropped_before_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped: list[bool] = []
    backend = load("jax", cache="off")
    monkeypatch.setattr(jax, "clear_caches", lambda: dropped.append(True))
    assert len(move_bits(backend, "f32")) > len(dropped) > 3
    operator, inputs, attributes = VALID
    before = len(dropped)
    for _ in range(3):
        backend.run(operator, inputs, attributes)
    assert len(dropped) == before + 3
    assert "nothing" in (declared_reuse(backend) or "")
    with pytest.raises(BackendError, match="cache=no; expected on or off"):
        load("jax", cache="no")


def test_the_runtime_judges_the_lengths() -> None:
    call = {"data": np.arange(4), "axis": np.array(0), "split_lengths": np.array([1, 2])}
    with pytest.raises(ValueError, match="Sum of sizes 3"):
        load("jax").run("openvino/VariadicSplit-1", call, {})
