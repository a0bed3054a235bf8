"""Whether a runtime finds a GPU."""

import shutil
from typing import Any


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
FINDS_GPU = {
    "torch": lambda torch: torch.cuda.is_available(),
    "jax": lambda jax: jax.default_backend() == "gpu",
    "cupy": _cupy_finds_gpu,
    "onnxruntime": _onnxruntime_finds_gpu,
}
