"""The PyTorch adapter, where PyTorch is installed."""

from operator import itemgetter

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.layouts import LAYOUTS, Layout
from opcert.backends.lookup import load
from opcert.backends.torch import TYPES, Torch
from opcert.errors import BackendError
from tests.backends.bits import are_identical, move_bits
from tests.backends.calls import Call, calls_of_every_operator

torch = pytest.importorskip("torch", reason="needs the extra torch", exc_type=ImportError)


def test_the_documented_examples_pass_bit_for_bit() -> None:
    certificate = certify(load("torch"), case="*example*")
    assert certificate.conformant, certificate.reasons
    assert certificate.grade == "bit-exact"


@pytest.mark.parametrize("name", TYPES)
def test_bits_are_preserved(name: str) -> None:
    assert are_identical(move_bits(load("torch"), name))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_data_of_any_layout_is_read(layout: Layout) -> None:
    assert are_identical(move_bits(load("torch"), "bf16", layout))


def test_undeclared_operators_and_types_are_unsupported() -> None:
    backend = load("torch")
    with pytest.raises(NotImplementedError, match="vendor/Unknown-1"):
        backend.run("vendor/Unknown-1", {}, {})
    with pytest.raises(NotImplementedError, match="i4"):
        move_bits(backend, "i4")


@pytest.mark.parametrize("call", calls_of_every_operator("bf16", Torch.support), ids=itemgetter(0))
def test_an_output_comes_to_the_host_by_one_copy(call: Call) -> None:
    backend = load("torch")
    with torch.autograd.profiler.profile() as profile:
        outputs = backend.run(*call)
    copies = [each.name for each in profile.function_events if each.name == "aten::_to_copy"]
    assert len(copies) == len(outputs)


def test_the_runtime_judges_the_lengths() -> None:
    call = {"data": np.arange(4), "axis": np.array(0), "split_lengths": np.array([1, 2])}
    with pytest.raises(RuntimeError, match="sum exactly to 4"):
        load("torch").run("openvino/VariadicSplit-1", call, {})


def test_a_missing_device_is_an_error() -> None:
    assert load("torch", device="cpu").version == load("torch").version
    with pytest.raises(BackendError, match="backend 'torch' cannot be constructed"):
        load("torch", device="no-such-device")
