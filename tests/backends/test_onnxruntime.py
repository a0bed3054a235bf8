"""ONNX Runtime as a backend, where it is installed."""

from typing import Any

import numpy as np
import pytest

from opcert.backends.probing import DECLARED_SUPPORT
from opcert.suite.support import checked_support
from tests.backends.calls import (
    SQUARE,
    broadcast,
    calls_of_every_operator,
    described_split,
    differences,
    gather,
    int64s,
    make_call,
    sliced,
    split,
)
from tests.backends.runtimes import shared
from tests.faults.finding import core_suite

NODES = DECLARED_SUPPORT["onnxruntime"]


@pytest.fixture(scope="module")
def runtime() -> Any:
    return shared("onnxruntime")


def test_elements_of_every_declared_type_arrive_and_return(runtime: Any) -> None:
    calls = [
        call
        for operator, declared in runtime.support.items()
        for name in declared.get("types", ())
        for call in calls_of_every_operator(name, NODES)
        if call[0] == operator
    ]
    assert len(calls) > 40
    calls += [described_split([2, 1], [2, 2]), sliced(SQUARE, 1, 2, 1)]
    assert not differences(runtime, calls)


def test_a_negative_rest_is_left_to_the_runtime(runtime: Any) -> None:
    assert make_call(runtime, split(SQUARE, 4, -1))[0] == "Fail"
    assert make_call(runtime, split(SQUARE, -1, -1))[0] == "Fail"


def test_batch_dims_without_batches_are_omitted(runtime: Any) -> None:
    calls = [gather(SQUARE, 1, 0, batch_dims=batch_dims) for batch_dims in (0, -1)]
    assert not differences(runtime, calls)
    scalar = gather(SQUARE, 0, batch_dims=-1)
    scalar[1]["indices"] = np.array(0)
    assert make_call(runtime, scalar)[0] == "InvalidGraph"


def test_a_mode_without_a_node_is_unsupported(runtime: Any) -> None:
    explicit = broadcast(SQUARE, 2, 3, mode="explicit")
    explicit[1]["axes_mapping"] = int64s(0, 1)
    assert make_call(runtime, explicit)[0] == "NotImplementedError"


def test_the_declaration_names_what_the_nodes_lack(runtime: Any) -> None:
    support = runtime.support
    assert "composed" in support["openvino/VariadicSplit-1"]["how"]
    assert support["openvino/Broadcast-1"]["index_types"] == ["i64"]
    assert support["openvino/Gather-8"]["input_types"] == {"indices": ["i32", "i64"]}
    ((start, *others),) = support["openvino/Slice-8"]["same_types"]
    assert (start, others) == ("start", ["stop", "step", "axes"])
    assert "broadcast-1/explicit-mode" in support["openvino/Broadcast-1"]["excluded"]
    assert "gather-8/batches" in support["openvino/Gather-8"]["excluded"]
    assert not {"i4", "u4"} & set(support["openvino/Slice-8"]["types"])


@pytest.mark.parametrize("options", [{}, {"indices": "int64"}])
def test_the_declaration_is_valid(options: dict[str, str]) -> None:
    assert checked_support(shared("onnxruntime", **options), core_suite()).declared


def test_indices_become_int64_on_request(runtime: Any) -> None:
    operator, inputs, attributes = sliced(SQUARE, 0, 1, 1)
    narrow = {name: each if name == "data" else each.astype("u1") for name, each in inputs.items()}
    wide = shared("onnxruntime", indices="int64")
    assert not differences(wide, [(operator, narrow, attributes)])
    assert make_call(runtime, (operator, narrow, attributes))[0] == "InvalidGraph"
    declared = wide.support[operator]
    assert "int64" in declared["how"]
    assert "u8" in declared["index_types"]
    narrow["stop"] = np.array([2**64 - 1], "u8")
    assert not differences(wide, [(operator, narrow, attributes)])
    narrow["stop"] = inputs["stop"].astype("f4")
    assert make_call(wide, (operator, narrow, attributes))[0] == "InvalidGraph"
