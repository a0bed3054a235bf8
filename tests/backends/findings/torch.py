"""Deviations of PyTorch."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding


@finding(
    "torch VariadicSplit-1 lengths-sum",
    call="`split(arange(10), [10, 2**63-1, 2**63-1, 2])`",
    expected="rejected",
    got="accepted: the sum wraps",
    right=REJECTED,
    wrong="accepted",
)
def torch_wrapping_sum() -> Any:
    import torch

    torch.split(torch.arange(10), [10, 2**63 - 1, 2**63 - 1, 2])
    return "accepted"


@finding(
    "torch Slice-8 subsample",
    call="`arange(256)[::2**63-1]`",
    expected="[0]",
    got="empty",
    right=[0],
    wrong=[],
)
def torch_greatest_step() -> Any:
    import torch

    return torch.arange(256)[:: 2**63 - 1].tolist()


@finding(
    "torch Slice-8 subsample",
    call="`arange(10).reshape(5, 2)[::2**63-1]`",
    expected="[[0, 1]]",
    got="rejected: the stride overflows",
    right=[[0, 1]],
    wrong=REJECTED,
)
def torch_greatest_step_of_rows() -> Any:
    import torch

    return torch.arange(10).reshape(5, 2)[:: 2**63 - 1].tolist()
