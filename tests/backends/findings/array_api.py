"""Deviations of NumPy, by way of the array API."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding


@finding(
    "numpy Concat-1 axis-range",
    call="`concatenate([zeros((2, 3))], -2**31)`",
    expected="rejected",
    got="shape (6,): this number means no axis",
    right=REJECTED,
    wrong=[6],
)
def numpy_least_axis() -> Any:
    import numpy as np

    return list(np.concatenate([np.zeros((2, 3))], -(2**31)).shape)


@finding(
    "numpy Transpose-1 order-range",
    call="`transpose(zeros((2, 3)), [2**32 + 1, 0])`",
    expected="rejected",
    got="shape (3, 2): cut to 32 bits",
    right=REJECTED,
    wrong=[3, 2],
)
def numpy_wide_order() -> Any:
    import numpy as np

    return list(np.transpose(np.zeros((2, 3)), [2**32 + 1, 0]).shape)


@finding(
    "numpy Reshape-1 sizes-not-below-minus-one",
    call="`reshape(zeros(6), [-2, 3])`",
    expected="rejected",
    got="shape (2, 3): any negative size is inferred",
    right=REJECTED,
    wrong=[2, 3],
)
def numpy_size_minus_two() -> Any:
    import numpy as np

    return list(np.reshape(np.zeros(6), [-2, 3]).shape)
