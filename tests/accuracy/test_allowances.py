"""What arithmetics allow: honest kernels are within them, and others are not."""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from opcert.accuracy.arithmetics import PRECISION, STANDARD, arithmetics, minimal
from opcert.accuracy.balls import Ball, ball, leaf
from opcert.accuracy.bounds import accuracy_of, allowed
from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.arrays.golden import NAN, NONFINITE, OPEN, SIGN, Allowance
from opcert.errors import Undecided
from tests.accuracy.honest import Kernel, cut

TYPES = tuple(PRECISION)
of_each_type = pytest.mark.parametrize("element_type", TYPES)
Formula = Callable[..., Any]


@pytest.fixture(autouse=True)
def _infinite_errors() -> Iterator[None]:
    """Balls may have infinite errors."""
    with np.errstate(all="ignore"):
        yield


def numbers(element_type: str, count: int, seed: int = 0, scale: float = 1.0) -> list[float]:
    drawn = np.random.default_rng(seed).standard_normal(count) * scale
    return [float(number) for number in drawn.astype(ELEMENT_TYPES[element_type])]


def allowance(element_type: str, *forms: Sequence[Ball | None]) -> Allowance:
    of = arithmetics(element_type)
    return Allowance(of.names, *allowed(of, forms), STANDARD)


def leaves(element_type: str, values: Sequence[float]) -> list[Ball]:
    return [leaf(arithmetics(element_type), value) for value in values]


def within(element_type: str, result: Array, *forms: Sequence[Ball | None]) -> tuple[str, ...]:
    return allowance(element_type, *forms).within(result)


def bounds(element_type: str, element: Ball | None, arithmetic: str = STANDARD) -> tuple[Any, Any]:
    one = replace(allowance(element_type, [element]), claimed=arithmetic)
    low, high = one.claimed_bounds
    return low[0], high[0]


def flags(element_type: str, element: Ball | None) -> int:
    return int(allowance(element_type, [element]).flags[0])


@of_each_type
@pytest.mark.parametrize("wide", [False, True], ids=["in-type", "wide"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 65, 300])
def test_a_dot_product_in_any_order_is_within_standard(
    element_type: str, wide: bool, n: int
) -> None:
    for seed in range(4):
        kernel = Kernel(element_type, seed, wide=wide)
        a, b = numbers(element_type, n, seed), numbers(element_type, n, seed + 99)
        result = kernel.to_end(kernel.total([*map(kernel.rounded, map(operator.mul, a, b))]))
        products = [*map(operator.mul, leaves(element_type, a), leaves(element_type, b))]
        held = within(element_type, np.array([result]), [products[0].total(products)])
        assert STANDARD in held
        assert not wide or element_type == "f64" or "wide" in held


@of_each_type
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul])
def test_one_operation_has_one_right_result(element_type: str, operation: Formula) -> None:
    a, b = numbers(element_type, 200), numbers(element_type, 200, 1)
    kernel = Kernel(element_type, 0)
    exact = [*map(operation, leaves(element_type, a), leaves(element_type, b))]
    result = np.array([*map(kernel.rounded, map(operation, a, b))])
    one = allowance(element_type, exact)
    low, high = one.claimed_bounds
    assert one.allows_claimed(result).all()
    assert (low == high).all() or element_type in ("f16", "bf16")  # a result may be flushed


def test_what_elements_share_is_computed_once() -> None:
    x, y = leaves("f32", [0.3, 0.7])
    plain, total, power = x + y, x.total([x, y]), x.exp()
    assert x + y is plain
    assert 1 / power is 1 / x.exp()
    assert (plain.rounding, total.rounding) == ("+", "sum")
    # A fraction is a constant that an arithmetic may have rounded.
    assert Fraction(1) * x is not 1 * x
    assert power.between(0, 1).ends == (0, 1)
    assert power.ends == (0, math.inf)


@of_each_type
def test_each_arithmetic_of_the_chain_contains_those_before_it(element_type: str) -> None:
    x = leaves(element_type, numbers(element_type, 40))
    total = [x[k].total([y * y for y in x[k : k + 5]]) for k in range(30)]
    one = allowance(element_type, [(a / b).exp() for a, b in zip(total, x[:30], strict=True)])
    apart = "subnormals kept", "f32 inputs", "vulkan functions", "transform"
    chain = [name for name in one.arithmetics if name not in apart]
    last = chain.index("f16 inputs") if "f16 inputs" in chain else len(chain)
    assert (one.low[1:last] <= one.low[: last - 1]).all()
    assert (one.high[1:last] >= one.high[: last - 1]).all()


@pytest.mark.parametrize(("bits", "name"), [(11, "tf32 inputs"), (8, "bf16 inputs")])
@pytest.mark.parametrize("n", [1, 4, 64])
def test_cut_inputs_are_not_standard_and_are_named(bits: int, name: str, n: int) -> None:
    a, b = (np.array(numbers("f32", 16 * n, k), np.float32).reshape(16, n) for k in (0, 1))
    result = np.array(
        [np.dot(x, y) for x, y in zip(cut(a, bits), cut(b, bits), strict=True)], np.float32
    )
    sums = []
    for x, y in zip(a, b, strict=True):
        products = [*map(operator.mul, leaves("f32", x.tolist()), leaves("f32", y.tolist()))]
        sums.append(products[0].total(products))
    assert minimal(within("f32", result, sums), "f32")[0] == name


@of_each_type
def test_whole_numbers_have_one_sum_in_every_order(element_type: str) -> None:
    x = leaves(element_type, [float(k % 7 - 3) for k in range(61)])
    low, high = bounds(element_type, x[0].total(x))
    assert low == high == sum(k % 7 - 3 for k in range(61))


@of_each_type
def test_dropping_the_tail_of_a_sum_is_within_no_arithmetic(element_type: str) -> None:
    values = [1.0 + k % 3 for k in range(19)]
    x = leaves(element_type, values)
    result = np.array([sum(values[:16])], ELEMENT_TYPES[element_type])
    assert within(element_type, result, [x[0].total(x)]) == ()


@pytest.mark.parametrize(
    ("element_type", "value", "rest", "expected"),
    [
        ("f16", 1.0, 2.0**-11, 1.0),
        ("f16", 1.0, 3 * 2.0**-11, 1 + 2.0**-9),
        ("f16", 65504.0, 15.0, 65504.0),
        ("f16", 65504.0, 16.0, math.inf),
        ("bf16", 1.0, 2.0**-8, 1.0),
        # Rounded to a double first, it would be a tie.
        ("f32", 1 + 2.0**-24, 2.0**-60, 1 + 2.0**-23),
        ("f32", 1 + 2.0**-24, -(2.0**-60), 1.0),
        ("f64", 1.0, 2.0**-53, 1.0),
        ("f64", 1.0, 2.0**-53 + 2.0**-80, 1 + 2.0**-52),
    ],
)
def test_a_value_is_rounded_once_ties_to_even(
    element_type: str, value: float, rest: float, expected: float
) -> None:
    of = arithmetics(element_type)
    assert bounds(element_type, ball(of, value) + ball(of, rest)) == (expected, expected)


@of_each_type
def test_what_ieee_754_decides_of_special_numbers(element_type: str) -> None:
    one, zero, infinity, nan = leaves(element_type, [1.0, 0.0, math.inf, math.nan])
    required = [nan + one, infinity - infinity, infinity * zero, infinity / infinity, nan.exp()]
    assert [flags(element_type, element) for element in required] == [NAN] * 5
    assert bounds(element_type, infinity + one) == (math.inf, math.inf)
    assert bounds(element_type, (-infinity).exp()) == (0, 0)
    assert bounds(element_type, infinity.tanh()) == (1, 1)
    assert not infinity < nan


@of_each_type
def test_the_sign_of_a_zero_counts_where_an_operation_gives_it(element_type: str) -> None:
    zero, one = leaves(element_type, [-0.0, 1.0])
    dtype = ELEMENT_TYPES[element_type]
    product = allowance(element_type, [zero * one])
    assert product.flags[0] == SIGN
    assert product.allows_claimed(np.array([-0.0], dtype)).all()
    assert not product.allows_claimed(np.array([0.0], dtype)).any()
    assert flags(element_type, one.total([one, -one])) == 0


@of_each_type
def test_what_documents_call_undefined_is_open(element_type: str) -> None:
    one, zero, nan = leaves(element_type, [1.0, 0.0, math.nan])
    with pytest.raises(Undecided):
        one / zero
    with pytest.raises(Undecided):
        (-one).sqrt()
    with pytest.raises(Undecided):
        one.extreme([leaf(arithmetics(element_type), math.inf), nan], 1)
    assert flags(element_type, None) == OPEN


@of_each_type
def test_where_one_operand_is_nan_any_other_may_be_the_greatest(element_type: str) -> None:
    one, two, nan = leaves(element_type, [1.0, 2.0, math.nan])
    greatest = one.extreme([one, nan, two], 1)
    outputs = np.array([0.5, 1.0, 2.0, 3.0, math.nan]).astype(ELEMENT_TYPES[element_type])
    allowed = allowance(element_type, [greatest] * 5).allows_claimed(outputs)
    assert allowed.tolist() == [False, True, True, False, True]


def test_overflow_of_a_partial_sum_may_give_anything_infinite() -> None:
    x = leaves("f16", [65504.0, 65504.0, -65504.0, -65504.0])
    assert flags("f16", x[0].total(x)) == NONFINITE
    assert flags("f16", (x[0] + x[1]) * leaf(arithmetics("f16"), 2.0**-12)) == NONFINITE


def test_a_sum_with_infinity_is_open_where_the_rest_may_overflow() -> None:
    greatest, infinity = leaves("bf16", [3.0e38, math.inf])
    assert bounds("bf16", infinity.total([infinity, greatest])) == (math.inf, math.inf)
    with pytest.raises(Undecided):
        infinity.total([infinity, -greatest, -greatest])


def test_a_divisor_that_may_be_zero_allows_anything_between_the_infinities() -> None:
    a = leaves("f32", numbers("f32", 9))
    small = a[0].total([*a, -a[0].total(a), 1e-9])
    low, high = bounds("f32", a[0] / small)
    assert (low, high) == (-math.inf, math.inf)


def test_subnormals_may_be_flushed_unless_they_are_kept() -> None:
    x, half = leaves("f32", [2.0**-126, 0.5])
    assert bounds("f32", x * half) == (0, 2.0**-127)
    assert bounds("f32", x * half, "subnormals kept") == (2.0**-127, 2.0**-127)
    y, half = leaves("f64", [2.0**-1022, 0.5])
    assert bounds("f64", y * half) == (2.0**-1023, 2.0**-1023)


@of_each_type
@pytest.mark.parametrize(
    ("name", "exact", "scale"),
    [("exp", np.exp, 4.0), ("tanh", np.tanh, 1.0), ("sqrt", np.sqrt, 5.0)],
)
def test_a_function_may_err_by_its_units_and_no_more(
    element_type: str, name: str, exact: Formula, scale: float
) -> None:
    values = [abs(value) for value in numbers(element_type, 60, scale=scale)]
    dtype = ELEMENT_TYPES[element_type]
    result = exact(np.array(values)).astype(dtype)
    elements = [getattr(x, name)() for x in leaves(element_type, values)]
    one = allowance(element_type, elements)
    assert one.allows_claimed(result).all()
    off = (result.astype(np.float64) * (1 + 16 * 2.0 ** -PRECISION[element_type])).astype(dtype)
    assert not one.allows_claimed(off)[result.astype(float) > 2**-10].any()


@pytest.mark.parametrize(("element_type", "units"), [("f32", 3), ("f16", 1)])
@pytest.mark.parametrize("argument", [1.75, -8.875, 10.25])
def test_an_exponential_of_vulkan_errs_by_more_the_larger_its_argument(
    element_type: str, units: int, argument: float
) -> None:
    (x,) = leaves(element_type, [argument])
    exact, most = math.exp(argument), units + 2 * abs(argument)
    last = 2.0 ** (math.frexp(exact)[1] - PRECISION[element_type])
    low, high = (float(end) for end in bounds(element_type, x.exp(), "vulkan functions"))
    assert most - 1 < (exact - low) / last <= most
    assert most - 1 < (high - exact) / last <= most


def test_a_quotient_of_vulkan_by_a_huge_divisor_is_open_in_its_arithmetic_alone() -> None:
    x, huge = leaves("f32", [1.5, 2.0**127])
    assert bounds("f32", x / huge, "vulkan functions") == (-math.inf, math.inf)
    low, high = bounds("f32", x / huge)
    assert 0 <= low <= high < 2.0**-126
    assert flags("f32", (x / huge) + x) == 0


def winograd(d: Array, g: Array) -> list[Any]:
    """Return two neighbouring sums of three products, by four products: F(2, 3)."""
    half = np.float32(0.5)
    first, last = (d[0] - d[2]) * g[0], (d[1] - d[3]) * g[2]
    one = (d[1] + d[2]) * ((g[0] + g[1] + g[2]) * half)
    two = (d[2] - d[1]) * ((g[0] - g[1] + g[2]) * half)
    return [first + one + two, one - two - last]


def products_of(d: Array, g: Array) -> list[Ball]:
    of = arithmetics("f32")
    data, weights = (
        [leaf(of, float(value), float(np.abs(array).max())) for value in array] for array in (d, g)
    )
    terms = [[*map(operator.mul, data[k : k + 3], weights)] for k in range(2)]
    return [term[0].total(term) for term in terms]


def test_a_transform_is_within_its_arithmetic_and_may_not_be_within_faithful() -> None:
    held = []
    for seed in range(40):
        # Next to a large element with a small weight, others lose bits.
        d, g = (np.array(numbers("f32", n, seed), np.float32) for n in (4, 3))
        d[2], g[2] = 999 * d[2], g[2] / 4096
        held.append(within("f32", np.array(winograd(d, g), np.float32), products_of(d, g)))
    assert all("transform" in names for names in held)
    assert any("faithful" not in names for names in held)


def test_a_sum_of_elements_is_as_exact_in_a_transform_as_without() -> None:
    terms = [leaf(arithmetics("f32"), k / 3, 1e6) for k in range(9)]
    low, high = bounds("f32", terms[0].total(terms), "transform")
    assert high - low < 1e-4


def test_a_product_in_a_transform_may_be_negated() -> None:
    def bounds_of(sign: int) -> tuple[Any, Any]:
        of = arithmetics("f32")
        terms = [leaf(of, k / 3, 1e6) * leaf(of, 1 / 7, 1.0) for k in range(9)]
        signed = [term if sign > 0 else -term for term in terms]
        return bounds("f32", signed[0].total(signed), "transform")

    low, high = bounds_of(1)
    assert high - low > 1e-2
    assert bounds_of(-1) == (-high, -low)


def test_what_is_not_finite_may_reach_each_result_of_a_transform() -> None:
    d, g = (np.array(values, np.float32) for values in ([1, 2, 3, math.inf], [1, 1, 1]))
    exact, infinite = np.array([6, math.inf], np.float32), np.array([math.nan] * 2, np.float32)
    sums = products_of(d, g)
    assert within("f32", infinite, sums) == ("transform",)
    assert STANDARD in within("f32", exact, sums)


@of_each_type
def test_all_between_two_forms_is_allowed(element_type: str) -> None:
    (x,) = leaves(element_type, [3.0])
    one = allowance(element_type, [x], [x + x])
    assert [
        bool(one.allows_claimed(np.array([k], ELEMENT_TYPES[element_type]))[0])
        for k in (2, 3, 6, 7)
    ] == [False, True, True, False]


@pytest.mark.parametrize(
    ("element_type", "dtype", "within"),
    [("f32", np.float32, ("standard", "subnormals kept")), ("f64", np.float64, ("standard",))],
)
def test_an_error_is_counted_in_elements_between(
    element_type: str, dtype: type, within: tuple[str, ...]
) -> None:
    x = leaves(element_type, [1.0, 1.0, 1.0, 1.0])
    one = allowance(element_type, [y.exp() for y in x])
    result: Array = np.full(4, math.e, dtype)
    for k in range(4):
        for _ in range(k):
            result[k] = np.nextafter(result[k], dtype(3))
    accuracy = accuracy_of(one, result)
    assert accuracy is not None
    assert (accuracy.worst, accuracy.counts, accuracy.open) == (3, (1, 1, 1, 1), 0)
    assert accuracy.within == within


def test_elements_at_the_ends_of_a_type_are_far_apart() -> None:
    (x,) = leaves("f64", [1.0])
    one = allowance("f64", [x])
    accuracy = accuracy_of(one, np.full(one.low.shape[1:], -1.7e308))
    assert accuracy is not None
    assert accuracy.worst > 2.0**62


def test_one_great_error_is_the_spread() -> None:
    (x,) = leaves("f32", [1.0])
    # Python's power of this number is more than its product with itself.
    steps = 129_748_661
    far = np.array([0x3F800000 + steps], np.uint32).view(np.float32)
    accuracy = accuracy_of(allowance("f32", [x]), far)
    assert accuracy is not None
    assert (accuracy.worst, accuracy.spread) == (steps, steps * float(steps))


def test_a_signalling_nan_counts_as_open() -> None:
    (x,) = leaves("f32", [1.0])
    signalling = np.array([0x7F800001], np.uint32).view(np.float32)
    assert accuracy_of(allowance("f32", [x]), signalling) is None


@of_each_type
def test_a_power_far_below_every_number_is_zero_in_no_time(element_type: str) -> None:
    x, one = leaves(element_type, [-3.0e38 if element_type != "f16" else -6.0e4, 1.0])
    low, high = bounds(element_type, x.exp())
    assert low <= 0 <= high < arithmetics(element_type).limits[1]
    assert bounds(element_type, one / (one + x.exp()), "correctly rounded") == (1, 1)
