"""OpenVINO as a backend, where it is installed."""

from typing import Any

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.contract import Backend
from opcert.backends.declared_support import DECLARED_SUPPORT
from opcert.backends.lookup import load
from opcert.errors import BackendError
from tests.backends.calls import (
    COMPLEX,
    INVALID_CALLS,
    SQUARE,
    Call,
    broadcast,
    calls_of_every_operator,
    describe_difference,
    gather,
    make_call,
    split,
)

pytest.importorskip("openvino", reason="the extra openvino is not installed")

REFERENCE = load("reference")
FEEDS = [
    (feed, to) for feed in ("dynamic", "static", "constant") for to in ("parameter", "constant")
]
# The CPU computes these in 32 bits, so that the smallest become 0.
NARROWED = ("f64",)


@pytest.fixture(scope="module")
def dynamic() -> Backend:
    return load("openvino")


@pytest.mark.parametrize(("feed", "indices"), FEEDS)
def test_all_ways_of_feeding_give_the_same_results(feed: str, indices: str) -> None:
    fed = load("openvino", feed=feed, indices=indices)
    explicit = broadcast(SQUARE, 3, 2, 4, 3, mode="explicit")
    explicit[1]["axes_mapping"] = np.array([1, 3])
    # The CPU flushes constant floats near 0 to 0.
    calls = [*calls_of_every_operator("i32"), explicit, gather(SQUARE, 2, 0, axis=1, batch_dims=0)]
    assert [describe_difference(fed, REFERENCE, call) for call in calls] == [""] * len(calls)


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name not in NARROWED])
def test_elements_of_every_type_arrive_and_return(dynamic: Backend, name: str) -> None:
    # ReverseSequence converts elements to f32, which a finding shows.
    exact = set(DECLARED_SUPPORT["openvino"]) - {"openvino/ReverseSequence-1"}
    for call in calls_of_every_operator(name, exact):
        assert describe_difference(dynamic, REFERENCE, call) == "", call


@pytest.mark.parametrize("call", INVALID_CALLS, ids=range(len(INVALID_CALLS)))
def test_invalid_calls_are_rejected(dynamic: Backend, call: Call) -> None:
    raised, _ = make_call(dynamic, call)
    assert raised == ("AdapterRejection" if call is INVALID_CALLS[-1] else "RuntimeError")


def test_unknown_operators_and_types_are_unsupported(dynamic: Backend) -> None:
    assert make_call(dynamic, COMPLEX)[0] == "NotImplementedError"
    assert make_call(dynamic, ("vendor/Unknown-1", {}, {}))[0] == "NotImplementedError"


def test_a_valid_and_a_rejected_call_share_compiled_code() -> None:
    backend: Any = load("openvino")
    for call in (split(SQUARE, 1, 1), split(SQUARE, 1, 2), split(SQUARE, 1, 1)):
        make_call(backend, call)
    assert backend._request.cache_info().misses == 1


def test_code_compiled_long_ago_is_compiled_again() -> None:
    backend: Any = load("openvino")
    size = backend._request.cache_info().maxsize
    others = [split(np.zeros((2,) * rank), 1, 1) for rank in range(1, size + 1)]
    for call in (split(SQUARE, 3), *others, split(SQUARE, 3)):
        assert make_call(backend, call)[0] == ""
    assert backend._request.cache_info().misses == size + 2


def test_outputs_share_no_memory_with_the_runtime(dynamic: Backend) -> None:
    operator, inputs, attributes = split(SQUARE.copy(), 3)
    (first,) = dynamic.run(operator, inputs, attributes)
    inputs["data"][...] = 9
    dynamic.run(operator, inputs, attributes)
    assert np.array_equal(first, SQUARE)
    first[...] = 7


def test_cached_models_give_the_results_of_new_ones(dynamic: Backend) -> None:
    new = load("openvino", cache="off")
    calls = [
        *calls_of_every_operator("i8"),
        *INVALID_CALLS,
        *calls_of_every_operator("f32"),
        *calls_of_every_operator("i8"),
    ]
    assert [describe_difference(dynamic, new, call) for call in calls] == [""] * len(calls)


def test_the_declared_types_are_those_that_compile(dynamic: Backend) -> None:
    support = dynamic.support  # type: ignore[attr-defined]
    assert set(support) >= {call[0] for call in calls_of_every_operator("f32")}
    for declared in support.values():
        assert declared["how"] == "native"
        assert "f32" in declared["types"]
        assert "i64" in declared.get("index_types", ["i64"])


@pytest.mark.parametrize("option", [{"device": "TPU"}, {"feed": "both"}, {"cache": "no"}])
def test_an_unknown_option_is_an_error(option: dict[str, str]) -> None:
    ((key, value),) = option.items()
    with pytest.raises(BackendError, match=f"{key}={value}"):
        load("openvino", **option)
