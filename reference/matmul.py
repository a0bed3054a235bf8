"""MatMul: products of matrices, in batches that broadcast."""

import numpy as np

from opcert.reference.reducing import wide
from opcert.reference.rules import Array, require, requires_arguments


@requires_arguments("mat-mul-1/required-inputs")
def mat_mul_1(
    a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False
) -> list[Array]:
    """Return the products of the matrices of `a` and `b`, which may be transposed before.

    Shapes: a (batch..., m, k) or (k,), b (batch..., k, n) or (k,); the output is (batch..., m, n),
    without m or n where a factor is a vector.

    Source: OpenVINO MatMul-1, the detailed description.

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    shapes = f"shapes {a.shape}, {b.shape}"
    require(a.ndim >= 1, "mat-mul-1/a-rank", shapes)
    require(b.ndim >= 1, "mat-mul-1/b-rank", shapes)
    require(a.dtype == b.dtype, "mat-mul-1/same-type", f"types {a.dtype}, {b.dtype}")
    left, right = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
    if transpose_a and a.ndim > 1:
        left = left.swapaxes(-2, -1)
    if transpose_b and b.ndim > 1:
        right = right.swapaxes(-2, -1)
    require(left.shape[-1] == right.shape[-2], "mat-mul-1/inner-lengths", shapes)
    pairs = zip(left.shape[-3::-1], right.shape[-3::-1], strict=False)
    is_broadcast = all(len({m, n, 1}) <= 2 for m, n in pairs)
    require(is_broadcast, "mat-mul-1/batches", shapes)
    with np.errstate(all="ignore"):
        # Not matmul, whose sums depend on the machine.
        terms = wide(left)[..., :, :, None] * wide(right)[..., None, :, :]
        products = np.sum(terms, axis=-2).astype(a.dtype)
    squeezed = [axis for axis, factor in ((-2, a), (-1, b)) if factor.ndim == 1]
    return [np.squeeze(products, tuple(squeezed)).copy()]
