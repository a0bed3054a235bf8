"""Adapters on a GPU, where there is one that their package finds."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from opcert.backends import load
from tests.backends.calls import differs, of_every_operator

REFERENCE = load("reference")


def onnxruntime_finds_one(onnxruntime: Any) -> bool:
    # A package built for CUDA names the provider on any machine.
    named = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    return named and shutil.which("nvidia-smi") is not None


def cupy_finds_one(cupy: Any) -> bool:
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


@pytest.mark.parametrize(
    ("backend", "option", "module", "finds_one"),
    [
        ("torch", {"device": "cuda"}, "torch", lambda torch: torch.cuda.is_available()),
        ("jax", {}, "jax", lambda jax: jax.default_backend() == "gpu"),
        ("array-api", {"namespace": "cupy"}, "cupy", cupy_finds_one),
        (
            "onnxruntime",
            {"provider": "CUDAExecutionProvider"},
            "onnxruntime",
            onnxruntime_finds_one,
        ),
    ],
    ids=["torch", "jax", "cupy", "onnxruntime"],
)
def test_documented_calls_are_computed_on_a_gpu(
    backend: str, option: dict[str, str], module: str, finds_one: Callable[[Any], bool]
) -> None:
    reason = f"the package {module} is not installed"
    runtime = pytest.importorskip(module, reason=reason, exc_type=ImportError)
    if not finds_one(runtime):
        pytest.skip(f"{module} {runtime.__version__} finds no GPU")
    found = load(backend, **option)
    calls = [call for name in ("f32", "i32") for call in of_every_operator(name)]
    assert [differs(found, REFERENCE, call) for call in calls] == [""] * len(calls)
