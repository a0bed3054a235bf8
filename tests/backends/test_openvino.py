"""OpenVINO as a backend, where it is installed."""

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.probing import DECLARED_SUPPORT
from tests.at_length import at_length
from tests.backends.calls import (
    SQUARE,
    broadcast,
    calls_of_every_operator,
    differences,
    gather,
)
from tests.backends.runtimes import loaded, shared

FEEDS = [
    (feed, to) for feed in ("dynamic", "static", "constant") for to in ("parameter", "constant")
]
# The CPU computes these in 32 bits, so that the smallest become 0.
NARROWED = ("f64",)


@pytest.mark.parametrize(("feed", "indices"), at_length(FEEDS, 5))
def test_all_ways_of_feeding_give_the_same_results(feed: str, indices: str) -> None:
    fed = loaded("openvino", feed=feed, indices=indices)
    explicit = broadcast(SQUARE, 3, 2, 4, 3, mode="explicit")
    explicit[1]["axes_mapping"] = np.array([1, 3])
    # The CPU flushes constant floats near 0 to 0.
    calls = [*calls_of_every_operator("i32"), explicit, gather(SQUARE, 2, 0, axis=1, batch_dims=0)]
    assert not differences(fed, calls)


@pytest.mark.parametrize(
    "name", at_length([name for name in ELEMENT_TYPES if name not in NARROWED], 5)
)
def test_elements_of_every_type_arrive_and_return(name: str) -> None:
    # ReverseSequence converts elements to f32, which a finding shows.
    exact = set(DECLARED_SUPPORT["openvino"]) - {"openvino/ReverseSequence-1"}
    assert not differences(shared("openvino"), calls_of_every_operator(name, exact))


@pytest.mark.slow
def test_the_declared_types_are_those_that_compile() -> None:
    support = shared("openvino").support
    assert set(support) >= {call[0] for call in calls_of_every_operator("f32")}
    for declared in support.values():
        assert declared["how"] == "native"
        assert "f32" in (declared.get("types") or declared["input_types"]["then"])
        assert "i64" in declared.get("index_types", ["i64"])
