"""ONNX Runtime as a backend, where it is installed."""

from typing import Any

import numpy as np
import pytest

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
    listed,
    of_every_operator,
    outcome,
    sliced,
    split,
)

pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")
pytest.importorskip("onnx", reason="the extra onnxruntime is not installed")

REFERENCE = load("reference")


def described(*sizes: list[int], count: int | None = None, **more: Any) -> Call:
    tensors = [{"Sizes": each, "DataType": more.get("of", "FLOAT32")} for each in sizes]
    attributes = {"OutputCount": count or len(sizes), "OutputTensors": tensors, "Axis": 1}
    return "directml/DML_OPERATOR_SPLIT", {"InputTensor": SQUARE}, attributes


WRONG_DESCRIPTORS = [
    described([2, 1], [2, 1]),
    described([2, 1], [3, 2]),
    described([2, 1], [2, 2, 1]),
    described([2, 1], [2, 2], of="INT32"),
    described([2, 1], [2, 2], of="FLOAT"),
    described([2, 1], [2, 2], count=1),
    described([2, 1], [2, 2], count=1 << 40),
]


@pytest.fixture(scope="module")
def runtime() -> Backend:
    return load("onnxruntime")


def test_documented_calls_are_computed(runtime: Backend) -> None:
    calls = [*of_every_operator("f32"), described([2, 1], [2, 2]), gather(SQUARE, 1, batch_dims=0)]
    assert [differs(runtime, REFERENCE, call) for call in calls] == [""] * len(calls)


def test_elements_of_every_declared_type_arrive_and_return(runtime: Backend) -> None:
    support = runtime.support  # type: ignore[attr-defined]
    calls = [
        call
        for operator, declared in support.items()
        for name in declared["types"]
        for call in of_every_operator(name)
        if call[0] == operator
    ]
    assert len(calls) > 40
    assert [differs(runtime, REFERENCE, call) for call in calls] == [""] * len(calls)


@pytest.mark.parametrize("call", BROKEN, ids=range(len(BROKEN)))
def test_broken_calls_are_rejected(runtime: Backend, call: Call) -> None:
    assert outcome(runtime, call)[0] not in ("", "NotImplementedError")


@pytest.mark.parametrize("call", WRONG_DESCRIPTORS, ids=range(len(WRONG_DESCRIPTORS)))
def test_the_runtime_holds_split_against_the_descriptors(runtime: Backend, call: Call) -> None:
    assert outcome(runtime, call)[0] not in ("", "NotImplementedError")


def test_a_rest_that_is_less_than_nothing_is_for_the_runtime_to_reject(runtime: Backend) -> None:
    assert outcome(runtime, split(SQUARE, 4, -1))[0] == "Fail"
    assert outcome(runtime, split(SQUARE, -1, -1))[0] == "Fail"


def test_batch_dims_that_name_no_batches_are_left_out(runtime: Backend) -> None:
    for batch_dims in (0, -1):
        call = gather(SQUARE, 1, 0, batch_dims=batch_dims)
        assert differs(runtime, REFERENCE, call) == ""
    scalar = gather(SQUARE, 0, batch_dims=-1)
    scalar[1]["indices"] = np.array(0)
    assert outcome(runtime, scalar)[0] == "InvalidGraph"


def test_axes_may_be_left_out(runtime: Backend) -> None:
    call = sliced(SQUARE, 1, 2, 1)
    assert differs(runtime, REFERENCE, call) == ""


def test_what_there_is_no_node_for_is_declined(runtime: Backend) -> None:
    explicit = broadcast(SQUARE, 2, 3, mode="explicit")
    explicit[1]["axes_mapping"] = listed(0, 1)
    for call in (explicit, COMPLEX, ("vendor/Unknown-1", {}, {})):
        assert outcome(runtime, call)[0] == "NotImplementedError"


def test_the_declaration_names_what_is_not_there(runtime: Backend) -> None:
    support = runtime.support  # type: ignore[attr-defined]
    assert "composed" in support["openvino/VariadicSplit-1"]["how"]
    assert support["openvino/Broadcast-1"]["index_types"] == ["i64"]
    assert support["openvino/Gather-8"]["input_types"] == {"indices": ["i32", "i64"]}
    ((start, *others),) = support["openvino/Slice-8"]["same_types"]
    assert (start, others) == ("start", ["stop", "step", "axes"])
    assert "broadcast-1/explicit-mode" in support["openvino/Broadcast-1"]["excluded"]
    assert "gather-8/batches" in support["openvino/Gather-8"]["excluded"]
    assert not {"i4", "u4"} & set(support["openvino/Slice-8"]["types"])


def test_kept_sessions_give_what_new_ones_do(runtime: Backend) -> None:
    new = load("onnxruntime", cache="off")
    calls = [*of_every_operator("i8"), *BROKEN, *of_every_operator("f32"), *WRONG_DESCRIPTORS]
    assert [differs(runtime, new, call) for call in calls * 2] == [""] * len(calls) * 2


def test_a_valid_call_and_a_rejected_one_share_what_was_compiled() -> None:
    backend: Any = load("onnxruntime")
    for call in (split(SQUARE, 1, 1), split(SQUARE, 1, 2), split(SQUARE, 1, 1)):
        outcome(backend, call)
    assert backend._session.cache_info().misses == 1


def test_what_was_compiled_long_before_is_compiled_anew() -> None:
    backend: Any = load("onnxruntime")
    kept = backend._session.cache_info().maxsize
    others = [split(np.zeros((2,) * rank), 1, 1) for rank in range(1, kept + 1)]
    for call in (split(SQUARE, 3), *others, split(SQUARE, 3)):
        assert outcome(backend, call)[0] == ""
    assert backend._session.cache_info().misses == kept + 2


def test_outputs_are_the_callers_own(runtime: Backend) -> None:
    operator, inputs, attributes = broadcast(SQUARE.copy(), 2, 3)
    (first,) = runtime.run(operator, inputs, attributes)
    inputs["data"][...] = 9
    runtime.run(operator, inputs, attributes)
    assert np.array_equal(first, SQUARE)
    first[...] = 7


def test_indices_are_made_int64_where_it_is_asked_for(runtime: Backend) -> None:
    operator, inputs, attributes = sliced(SQUARE, 0, 1, 1)
    narrow = {name: each if name == "data" else each.astype("u1") for name, each in inputs.items()}
    wide = load("onnxruntime", indices="int64")
    assert differs(wide, REFERENCE, (operator, narrow, attributes)) == ""
    assert outcome(runtime, (operator, narrow, attributes))[0] == "InvalidGraph"
    declared = wide.support[operator]  # type: ignore[attr-defined]
    assert "int64" in declared["how"]
    assert "u8" in declared["index_types"]
    narrow["stop"] = np.array([2**64 - 1], "u8")
    assert differs(wide, REFERENCE, (operator, narrow, attributes)) == ""
    narrow["stop"] = inputs["stop"].astype("f4")
    assert outcome(wide, (operator, narrow, attributes))[0] == "InvalidGraph"


@pytest.mark.parametrize("option", [{"provider": "None"}, {"indices": "i8"}, {"cache": "no"}])
def test_an_unknown_option_is_told(option: dict[str, str]) -> None:
    ((key, value),) = option.items()
    with pytest.raises(BackendError, match=f"{key}={value}"):
        load("onnxruntime", **option)
