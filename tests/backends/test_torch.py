"""The PyTorch adapter, where PyTorch is installed."""

from operator import itemgetter

import pytest

from opcert.backends.lookup import load
from opcert.backends.torch import Torch
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


def test_a_missing_device_is_an_error() -> None:
    assert load("torch", device="cpu").version == load("torch").version
    with pytest.raises(BackendError, match="backend 'torch' cannot be constructed"):
        load("torch", device="no-such-device")
