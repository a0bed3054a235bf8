"""Adapters on a GPU, where their package finds one."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from opcert.backends.lookup import load
from tests.backends.calls import calls_of_every_operator, describe_difference

REFERENCE = load("reference")


def onnxruntime_finds_gpu(onnxruntime: Any) -> bool:
    # A package built for CUDA lists the provider on any machine.
    listed = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    return listed and shutil.which("nvidia-smi") is not None


def cupy_finds_gpu(cupy: Any) -> bool:
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


@pytest.mark.parametrize(
    ("backend", "option", "module", "finds_gpu"),
    [
        ("torch", {"device": "cuda"}, "torch", lambda torch: torch.cuda.is_available()),
        ("jax", {}, "jax", lambda jax: jax.default_backend() == "gpu"),
        ("array-api", {"namespace": "cupy"}, "cupy", cupy_finds_gpu),
        (
            "onnxruntime",
            {"provider": "CUDAExecutionProvider"},
            "onnxruntime",
            onnxruntime_finds_gpu,
        ),
    ],
    ids=["torch", "jax", "cupy", "onnxruntime"],
)
def test_documented_calls_are_computed_on_a_gpu(
    backend: str, option: dict[str, str], module: str, finds_gpu: Callable[[Any], bool]
) -> None:
    reason = f"the package {module} is not installed"
    runtime = pytest.importorskip(module, reason=reason, exc_type=ImportError)
    if not finds_gpu(runtime):
        pytest.skip(f"{module} {runtime.__version__} finds no GPU")
    adapter = load(backend, **option)
    operators = adapter.support  # type: ignore[attr-defined]
    calls = [call for name in ("f32", "i32") for call in calls_of_every_operator(name, operators)]
    assert [describe_difference(adapter, REFERENCE, call) for call in calls] == [""] * len(calls)
