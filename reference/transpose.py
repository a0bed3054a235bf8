"""Transpose: data with its axes in another order."""

import numpy as np

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("transpose-1/required-inputs")
def transpose_1(arg: Array, input_order: Array) -> list[Array]:
    """Return `arg` with its axes in the order `input_order`; reversed if that is empty.

    Shapes: arg (any), input_order (rank of arg,) or (0,); axis k of the output is axis
    input_order[k] of arg.

    Source: OpenVINO Transpose-1, the formula and the inputs.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    rank = arg.ndim
    require(is_integer(input_order), "transpose-1/order-type", f"order of {input_order.dtype}")
    require(input_order.ndim == 1, "transpose-1/order-rank", f"order of rank {input_order.ndim}")
    order: list[int] = input_order.ravel().tolist()
    require(len(order) in (0, rank), "transpose-1/order-length", f"order {order}, rank {rank}")
    is_in_range = all(0 <= axis < rank for axis in order)
    require(is_in_range, "transpose-1/order-range", f"order {order}, rank {rank}")
    require(len({*order}) == len(order), "transpose-1/order-unique", f"order {order}")
    return [np.transpose(arg, order or None).copy("C")]
