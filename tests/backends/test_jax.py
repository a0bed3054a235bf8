"""The JAX adapter, where JAX is installed."""

import numpy as np
import pytest

from opcert.backends.lookup import load
from tests.backends.bits import assert_moves_bits
from tests.backends.calls import SQUARE, Call, make_call, sliced, split

jax = pytest.importorskip("jax", reason="needs the extra jax", exc_type=ImportError)


def test_types_of_64_bits_stay_within_the_call() -> None:
    assert_moves_bits(load("jax"), "f64")
    assert jax.numpy.arange(2).dtype == np.int32


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
