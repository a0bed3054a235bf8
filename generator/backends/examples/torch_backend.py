"""A PyTorch backend with one operator, on a CPU or a GPU.

opcert certify --backend torch_backend.py:Backend --backend-option device=cuda
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import torch

SPLIT = "openvino/VariadicSplit-1"


class RejectedError(ValueError):
    """The call violates a rule of the operator; this file found it, not PyTorch."""

    rejected_by = "adapter"


def lengths_of_parts(split_lengths: np.ndarray, extent: int) -> list[int]:
    """Return the length of each part; a -1 takes the rest."""
    if split_lengths.ndim != 1 or split_lengths.dtype.kind not in "iu":
        raise RejectedError("split_lengths is a 1-D tensor of integers")
    lengths: list[int] = split_lengths.tolist()
    if lengths.count(-1) == 1:
        lengths[lengths.index(-1)] = extent - sum(lengths) - 1
    if sum(lengths) != extent:  # PyTorch adds in 64 bits, which wrap.
        raise RejectedError(f"lengths {lengths} for an axis of {extent}")
    return lengths


class Backend:
    """Splits by torch.split on `device`."""

    name = "my-torch"
    version = torch.__version__
    reuse = "nothing: computed eagerly"
    support: ClassVar = {SPLIT: {"how": "native", "types": ["bf16", "f16", "f32", "i32", "i64"]}}
    # `--backend-option device=all` gives a certificate for each.
    configurations: ClassVar = {"device": ["cpu", "cuda"]}

    def __init__(self, device: str = "cpu") -> None:
        self.device = torch.device(device)
        torch.zeros(1, device=self.device)  # A device that does not work is an error now.

    def run(
        self, operator: str, inputs: Mapping[str, np.ndarray], attributes: Mapping[str, Any]
    ) -> list[np.ndarray]:
        """Compute `operator`."""
        if operator != SPLIT:
            raise NotImplementedError(operator)
        if attributes:
            raise RejectedError(f"{operator} has no attributes")
        data, axis = inputs["data"], inputs["axis"]
        if axis.size != 1 or axis.ndim > 1 or axis.dtype.kind not in "iu":
            raise RejectedError("axis is one integer")
        where = int(axis.item())
        lengths = lengths_of_parts(inputs["split_lengths"], data.shape[where])
        parts = torch.split(self.to_device(data), lengths, where)
        # A copy, since on the CPU the parts are views of `data`.
        return [to_numpy(part.to("cpu", copy=True)) for part in parts]

    def to_device(self, array: np.ndarray) -> torch.Tensor:
        """Return `array` on the device; NumPy's bfloat16 goes there as its bits."""
        array = array.copy()  # PyTorch takes no negative strides.
        if array.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16)).to(self.device).view(torch.bfloat16)
        return torch.from_numpy(array).to(self.device)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor of the CPU as an array."""
    is_bfloat16 = tensor.dtype == torch.bfloat16
    array: np.ndarray = (tensor.view(torch.int16) if is_bfloat16 else tensor).numpy()
    return array.view(ml_dtypes.bfloat16) if is_bfloat16 else array
