"""Runtimes that a machine may lack: backends of those that are installed, and their GPUs."""

import shutil
from functools import cache
from typing import Any

import pytest

from opcert.backends.lookup import load

# The modules of a package or of a backend, where its name is not that of the only one.
MODULES = {
    "array-api": ("array_api_compat", "array_api_strict"),
    "onnxruntime": ("onnx", "onnxruntime"),
}
CONFIGURATIONS: list[tuple[str, dict[str, str]]] = [
    ("openvino", {}),
    ("openvino", {"feed": "constant"}),
    ("onnxruntime", {}),
    ("onnxruntime", {"indices": "int64"}),
    ("torch", {}),
    ("jax", {}),
    ("array-api", {}),
]


def _cupy_finds_gpu(cupy: Any) -> bool:
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def _onnxruntime_finds_gpu(onnxruntime: Any) -> bool:
    # A package built for CUDA lists the provider on any machine.
    listed = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    return listed and shutil.which("nvidia-smi") is not None


# By the name of the runtime's module.
_FINDS_GPU = {
    "torch": lambda torch: torch.cuda.is_available(),
    "jax": lambda jax: jax.default_backend() == "gpu",
    "cupy": _cupy_finds_gpu,
    "onnxruntime": _onnxruntime_finds_gpu,
}


def need(name: str, gpu: bool = False) -> None:
    """Skip the test where a package is not installed, or finds no GPU if it needs one."""
    for module in MODULES.get(name, (name,)):
        reason = f"needs the package or the extra {name}"
        runtime = pytest.importorskip(module, reason=reason, exc_type=ImportError)
    if gpu and not _FINDS_GPU[name](runtime):
        pytest.skip(f"{name} {runtime.__version__} finds no GPU")


def loaded(name: str, **options: str) -> Any:
    """Return a new built-in backend; the test is skipped where its runtime is not installed."""
    need(name)
    return load(name, **options)


# The same for those tests that need no new one.
shared = cache(loaded)
