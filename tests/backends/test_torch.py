"""The PyTorch adapter, where PyTorch is installed."""

import os
import sys
from operator import itemgetter

import pytest

from opcert.backends.array_adapter import ArrayAdapter
from opcert.backends.lookup import load
from opcert.backends.torch import Torch, support_on
from opcert.errors import BackendError
from tests.backends.calls import Call, calls_of_every_operator

torch = pytest.importorskip("torch", reason="needs the extra torch", exc_type=ImportError)


@pytest.mark.parametrize("call", calls_of_every_operator("bf16", Torch.support), ids=itemgetter(0))
def test_an_output_comes_to_the_host_by_one_copy(call: Call) -> None:
    backend = load("torch")
    with torch.autograd.profiler.profile() as profile:
        outputs = backend.run(*call)
    copies = [each.name for each in profile.function_events if each.name == "aten::_to_copy"]
    assert len(copies) == len(outputs)


def test_kernels_of_cuda_lack_integers() -> None:
    cpu, cuda = map(support_on, ("cpu", "cuda:0"))
    assert "i32" in cpu["openvino/MatMul-1"]["types"]
    assert "i32" not in cuda["openvino/MatMul-1"]["types"]
    assert "u32" not in cuda["openvino/Select-1"]["input_types"]["then"]
    assert "i32" in cuda["openvino/Select-1"]["input_types"]["then"]


def test_a_call_that_breaks_the_device_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise torch.AcceleratorError("device-side assert triggered")

    backend = load("torch")
    monkeypatch.setattr(ArrayAdapter, "run", fail)
    monkeypatch.setattr(os, "abort", lambda: sys.exit("aborted"))
    with pytest.raises(torch.AcceleratorError):
        backend.run("openvino/Exp-1", {}, {})
    monkeypatch.setattr(torch, "zeros", fail)
    with pytest.raises(SystemExit, match="aborted"):
        backend.run("openvino/Exp-1", {}, {})


def test_a_missing_device_is_an_error() -> None:
    assert load("torch", device="cpu").version == load("torch").version
    with pytest.raises(BackendError, match="backend 'torch' cannot be constructed"):
        load("torch", device="no-such-device")
