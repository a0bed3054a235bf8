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


@finding(
    "torch Pad-1 constant",
    call="`nn.functional.pad(tensor([5]), [0, 1], value=2**53 + 1)`",
    expected="[5, 2^53 + 1]",
    got="[5, 2^53]: through f64; of u64 2^64 - 1 a 0",
    right=[5, 2**53 + 1],
    wrong=[5, 2**53],
)
def torch_fill_as_double() -> Any:
    import torch

    return torch.nn.functional.pad(torch.tensor([5]), [0, 1], value=2**53 + 1).tolist()


@finding(
    "torch Concat-1 axis-range",
    call="`cat([zeros(0), zeros(0)], 7)`",
    expected="rejected",
    got="accepted",
    right=REJECTED,
    wrong=[0],
)
def torch_axis_of_empty_tensors() -> Any:
    import torch

    return list(torch.cat([torch.zeros(0), torch.zeros(0)], 7).shape)
