"""OpenVINO as a backend, where it is installed."""

from typing import Any

import numpy as np
import pytest

from opcert.arrays import ELEMENT_TYPES
from opcert.backends import Backend, load
from opcert.errors import BackendError
from tests.backends.calls import (
    BROKEN,
    COMPLEX,
    SQUARE,
    Call,
    broadcast,
    differs,
    gather,
    of_every_operator,
    outcome,
    split,
)

pytest.importorskip("openvino", reason="the extra openvino is not installed")

REFERENCE = load("reference")
FEEDS = [
    (feed, to) for feed in ("dynamic", "static", "constant") for to in ("parameter", "constant")
]
# The CPU makes 32 bits of these, so that the least ones come out as 0.
NARROWED = ("f64",)


@pytest.fixture(scope="module")
def dynamic() -> Backend:
    return load("openvino")


@pytest.mark.parametrize(("feed", "indices"), FEEDS)
def test_every_way_of_feeding_computes_the_same(feed: str, indices: str) -> None:
    fed = load("openvino", feed=feed, indices=indices)
    explicit = broadcast(SQUARE, 3, 2, 4, 3, mode="explicit")
    explicit[1]["axes_mapping"] = np.array([1, 3])
    # Of floats, the CPU makes constants 0 that are next to it.
    calls = [*of_every_operator("i32"), explicit, gather(SQUARE, 2, 0, axis=1, batch_dims=0)]
    assert [differs(fed, REFERENCE, call) for call in calls] == [""] * len(calls)


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name not in NARROWED])
def test_elements_of_every_type_arrive_and_return(dynamic: Backend, name: str) -> None:
    for call in of_every_operator(name):
        assert differs(dynamic, REFERENCE, call) == "", call


@pytest.mark.parametrize("call", BROKEN, ids=range(len(BROKEN)))
def test_broken_calls_are_rejected(dynamic: Backend, call: Call) -> None:
    raised, _ = outcome(dynamic, call)
    assert raised == ("AdapterRejection" if call is BROKEN[-1] else "RuntimeError")


def test_what_cannot_be_handed_over_is_declined(dynamic: Backend) -> None:
    assert outcome(dynamic, COMPLEX)[0] == "NotImplementedError"
    assert outcome(dynamic, ("vendor/Unknown-1", {}, {}))[0] == "NotImplementedError"


def test_a_valid_call_and_a_rejected_one_share_what_was_compiled() -> None:
    backend: Any = load("openvino")
    for call in (split(SQUARE, 1, 1), split(SQUARE, 1, 2), split(SQUARE, 1, 1)):
        outcome(backend, call)
    assert backend._request.cache_info().misses == 1


def test_what_was_compiled_long_before_is_compiled_anew() -> None:
    backend: Any = load("openvino")
    kept = backend._request.cache_info().maxsize
    others = [split(np.zeros((2,) * rank), 1, 1) for rank in range(1, kept + 1)]
    for call in (split(SQUARE, 3), *others, split(SQUARE, 3)):
        assert outcome(backend, call)[0] == ""
    assert backend._request.cache_info().misses == kept + 2


def test_outputs_are_the_callers_own(dynamic: Backend) -> None:
    operator, inputs, attributes = split(SQUARE.copy(), 3)
    (first,) = dynamic.run(operator, inputs, attributes)
    inputs["data"][...] = 9
    dynamic.run(operator, inputs, attributes)
    assert np.array_equal(first, SQUARE)
    first[...] = 7


def test_kept_models_give_what_new_ones_do(dynamic: Backend) -> None:
    new = load("openvino", cache="off")
    calls = [*of_every_operator("i8"), *BROKEN, *of_every_operator("f32"), *of_every_operator("i8")]
    assert [differs(dynamic, new, call) for call in calls] == [""] * len(calls)


def test_the_declaration_is_of_what_compiles(dynamic: Backend) -> None:
    support = dynamic.support  # type: ignore[attr-defined]
    assert set(support) == {call[0] for call in of_every_operator("f32")}
    for declared in support.values():
        assert declared["how"] == "native"
        assert "f32" in declared["types"]
        assert "i64" in declared["index_types"]


@pytest.mark.parametrize("option", [{"device": "TPU"}, {"feed": "both"}, {"cache": "no"}])
def test_an_unknown_option_is_told(option: dict[str, str]) -> None:
    ((key, value),) = option.items()
    with pytest.raises(BackendError, match=f"{key}={value}"):
        load("openvino", **option)
