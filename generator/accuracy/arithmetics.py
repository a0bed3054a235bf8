"""Arithmetics: how leaves, operations, sums and functions may err, by element type.

An arithmetic is a class of kernels, not a kernel: a result is *within* it if some choice of
roundings that it permits gives the result. Units of functions are OpenCL's (numerical compliance,
full profile); bf16 has those of f16. One arithmetic has Vulkan's (precision of SPIR-V).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import copysign, frexp, inf
from typing import Any

import ml_dtypes
import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array

# The arithmetic that a verdict asks for unless a claim names another.
STANDARD = "standard"
_KEPT = "subnormals kept"
# Fast functions, a few units off; no table has them.
_LOOSE = "loose functions"
_VULKAN = "vulkan functions"
# Significant bits of the types that have arithmetic.
PRECISION = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
# The type in which a wide kernel computes.
_WIDER = {"bf16": "f32", "f16": "f32", "f32": "f64", "f64": "f64"}
# Units in the last place by which a function may err; 0 is a correct rounding.
_UNITS = {
    "f64": {"/": 0.0, "sqrt": 0.0, "exp": 3.0, "tanh": 5.0},
    "f32": {"/": 2.5, "sqrt": 3.0, "exp": 3.0, "tanh": 5.0},
    "f16": {"/": 1.0, "sqrt": 1.5, "exp": 2.0, "tanh": 2.0},
    "bf16": {"/": 1.0, "sqrt": 1.5, "exp": 2.0, "tanh": 2.0},
    _LOOSE: {"/": 4.0, "sqrt": 4.0, "exp": 16.0, "tanh": 16.0},
    # A root is the reciprocal of a reciprocal root, which may err by 2; tanh has no number.
    f"{_VULKAN} of f32": {"/": 2.5, "sqrt": 6.5, "exp": 3.0, "tanh": 5.0},
    f"{_VULKAN} of f16": {"/": 2.5, "sqrt": 6.5, "exp": 1.0, "tanh": 2.0},
}
FUNCTIONS = ("/", "sqrt", "exp", "tanh")
_EXACT = 1 << 20


def _info(element_type: str) -> Any:
    return ml_dtypes.finfo(ELEMENT_TYPES[element_type])  # type: ignore[no-untyped-call]


# By the bits of a type, its least subnormal number, and the least normal one, which f64 keeps.
_LEAST = {bits: float(_info(name).smallest_subnormal) for name, bits in PRECISION.items()}
_NORMAL = {
    bits: 0.0 if name == "f64" else float(_info(name).smallest_normal)
    for name, bits in PRECISION.items()
}


@dataclass(frozen=True)
class Row:
    """One way to compute, of which an arithmetic permits one or several.

    A leaf with more than `leaf_bits` significant bits may err by `leaf` of itself. Operations round
    to `bits`, additions within a sum to `sum_bits`, to nearest or, if `faithful`, to either
    neighbour. Functions have the units of `functions`, by default none: they round correctly.
    A product of two leaves with more than `product_bits` may err by `product` of itself. The end is
    one rounding to the nearest element, or to either neighbour unless the row `rounds_once`.
    Subnormals are `kept`, or may be flushed. With a `slope`, the units of an exponential grow by it
    times the magnitude of the argument, and quotients by what is not normal, or whose reciprocal is
    not, are open. For each of its terms, a sum of products may err by `transform` times the product
    of the largest elements of both inputs, whether or not it reads them.
    """

    bits: int = _EXACT
    sum_bits: int = _EXACT
    leaf_bits: int = _EXACT
    leaf: float = 0.0
    product_bits: int = _EXACT
    product: float = 0.0
    faithful: bool = False
    rounds_once: bool = False
    functions: str = ""
    slope: float = 0.0
    transform: float = 0.0
    kept: bool = False


# What computes in f32, whatever its inputs were.
_IN_F32 = Row(24, 24, faithful=True, functions="f32")


def _chain(element_type: str) -> dict[str, Row]:
    """Return what each arithmetic of a type adds to those before it, which it contains."""
    own, wider = PRECISION[element_type], PRECISION[_WIDER[element_type]]
    rows = {"correctly rounded": Row()}
    if element_type != "f64":
        wide = Row(wider, wider, faithful=True, functions=_WIDER[element_type])
        rows["wide"] = replace(wide, rounds_once=True)
    rows[STANDARD] = Row(own, own, functions=element_type)
    rows["faithful"] = replace(rows[STANDARD], faithful=True)
    rows[_LOOSE] = replace(rows["faithful"], functions=_LOOSE)
    if element_type == "f32":
        rows["split tf32"] = replace(_IN_F32, product_bits=11, product=3 * 2.0**-22)
        rows["split bf16"] = replace(_IN_F32, product_bits=8, product=3 * 2.0**-16)
        rows["tf32 inputs"] = replace(_IN_F32, leaf_bits=11, leaf=2.0**-10)
    if element_type in ("f16", "f32"):
        rows["bf16 inputs"] = replace(_IN_F32, leaf_bits=8, leaf=2.0**-7)
        rows["bf16 stored"] = replace(rows["bf16 inputs"], bits=8, functions="bf16")
    return rows


def _others(element_type: str) -> dict[str, Row]:
    """Return the arithmetics apart from the chain; all that may flush contain `faithful`."""
    own = PRECISION[element_type]
    # Winograd's and Strassen's algorithms, and FFT: 64 units.
    transform = Row(own, own, faithful=True, functions=element_type, transform=2.0 ** (6 - own))
    rows = {"transform": transform}
    if element_type == "f64":
        rows["f32 inputs"] = replace(_IN_F32, leaf_bits=24, leaf=2.0**-23)
        return rows
    rows[_KEPT] = Row(own, own, functions=element_type, kept=True)
    if element_type == "f32":
        rows["f16 inputs"] = replace(_IN_F32, leaf_bits=11, leaf=2.0**-11)
        rows["f16 accumulation"] = replace(_IN_F32, sum_bits=11)
        rows["bf16 accumulation"] = replace(_IN_F32, sum_bits=8)
    if (functions := f"{_VULKAN} of {element_type}") in _UNITS:
        rows[_VULKAN] = Row(own, own, faithful=True, functions=functions, slope=2.0)
    return rows


@dataclass(frozen=True)
class Arithmetics:
    """All arithmetics of an element type, with their numbers as vectors over them.

    Attributes:
        names: From tight to loose, then those apart from this chain.
        contains: For each arithmetic, which rows its results may come from.
    """

    element_type: str
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    contains: Array

    @cached_property
    def unit(self) -> Array:
        """By how much of itself an operation may err."""
        return self._unit_of("bits")

    @cached_property
    def sum_unit(self) -> Array:
        """By how much of the sum of absolute values each addition within a sum may err."""
        return self._unit_of("sum_bits")

    def _unit_of(self, bits: str) -> Array:
        # It is 0 where the bits are those of exact operations.
        return np.where(self.column["faithful"], 2.0, 1.0) * np.exp2(-self.column[bits])

    @cached_property
    def column(self) -> Mapping[str, Array]:
        """What the rows have under a name."""
        return {key: np.array([getattr(row, key) for row in self.rows]) for key in vars(Row())}

    @cached_property
    def kept(self) -> Array:
        """Where subnormals are not flushed."""
        return np.array([row.kept or self.element_type == "f64" for row in self.rows])

    @cached_property
    def keeps_width(self) -> Array:
        """Where inputs and sums are as wide as the type, and nothing else may be open."""
        # A narrower one overflows sooner.
        others = self.column["leaf"] + self.column["slope"] + self.column["transform"]
        is_wide = self.column["sum_bits"] >= PRECISION[self.element_type]
        return np.asarray(is_wide & (others == 0))

    @cached_property
    def has_units_of_results(self) -> Array:
        """Where the units of a last function are those of its rounded result: a table has them."""
        own = np.array([row.functions == self.element_type for row in self.rows])
        return (own | (self.column["slope"] > 0)) & ~self.column["rounds_once"]

    @cached_property
    def ends_at_a_neighbour(self) -> Array:
        """Where the last rounding may go either way."""
        return np.array([row.faithful and not row.rounds_once for row in self.rows])

    @cached_property
    def function_units(self) -> Mapping[str, Array]:
        """By how many units in the last place of `function_bits` each function may err."""
        return {
            name: np.array([_UNITS[r.functions][name] if r.functions else 0.0 for r in self.rows])
            for name in FUNCTIONS
        }

    @cached_property
    def function_bits(self) -> Array:
        """The significant bits of the units of functions; of correct ones, those of any type."""
        own, bits = PRECISION[self.element_type], {"": 64, **PRECISION}
        return np.array([bits.get(row.functions, own) for row in self.rows])

    @cached_property
    def rounding_errors(self) -> Mapping[str, tuple[Array, Array, Array]]:
        """By how much of itself each operation may err, by how much more, and how many times."""
        one, unit = np.ones(len(self.rows)), 2.0 ** (1 - self.function_bits)
        more = np.array([_LEAST.get(row.bits, 0.0) for row in self.rows])
        least = self.function_least
        errors = {
            "+": (self.unit, 0.0 * one, one),
            "*": (self.unit, more, one),
            "sum": (np.maximum(self.unit, self.sum_unit), 0.0 * one, one),
        }
        for name, units in self.function_units.items():
            errs = units > 0
            relative, absolute = np.where(errs, unit, self.unit), np.where(errs, least, more)
            errors[name] = relative, absolute, np.where(errs, units, one)
        return errors

    @cached_property
    def function_least(self) -> Array:
        """The least subnormal number of the type of `function_bits`, below which no unit is."""
        return np.array([_LEAST.get(bits, 0.0) for bits in self.function_bits])

    @cached_property
    def flushed(self) -> Mapping[str, Array]:
        """Below which size a result may be flushed before it is an operand: of sums, of others."""
        return {
            kind: np.where(self.kept, 0.0, [_NORMAL.get(bits, 0.0) for bits in self.column[key]])
            for kind, key in (("sum", "sum_bits"), ("", "bits"))
        }

    @cached_property
    def limits(self) -> tuple[float, float, float]:
        """The greatest element, the least normal one and the least subnormal one."""
        info = _info(self.element_type)
        return float(info.max), float(info.smallest_normal), float(info.smallest_subnormal)

    @cached_property
    def overflow(self) -> float:
        """From here on, a rounding to nearest gives infinity: half a unit past the greatest."""
        greatest = self.limits[0]
        # No float lies between the greatest double and infinity.
        half_a_unit = 2.0 ** -(PRECISION[self.element_type] + 1)
        return greatest if self.element_type == "f64" else greatest * (1 + half_a_unit)


@cache
def arithmetics(element_type: str) -> Arithmetics:
    """Return the arithmetics of an element type."""
    chain, others = _chain(element_type), _others(element_type)
    names = (*chain, *others)
    contains = np.zeros((len(names), len(names)), np.bool_)
    for number in range(len(names)):
        contains[number, : min(number + 1, len(chain))] = True
    reach = [*chain].index("faithful") + 1
    for number, name in enumerate(names[len(chain) :], len(chain)):
        contains[number] = False
        contains[number, : 0 if name == _KEPT else reach] = True
        contains[number, number] = True
    return Arithmetics(element_type, names, (*chain.values(), *others.values()), contains)


def nearest(number: float | Fraction, element_type: str) -> float:
    """Return the element of a type that is nearest to a finite number."""
    greatest, normal, _ = arithmetics(element_type).limits
    exponent = max(frexp(float(number))[1], frexp(normal)[1]) - PRECISION[element_type]
    # In integers, which are exact whatever the type, and fast; ties go to even.
    numerator, denominator = number.as_integer_ratio()
    numerator, denominator = numerator << max(-exponent, 0), denominator << max(exponent, 0)
    units, rest = divmod(numerator, denominator)
    units += 2 * rest > denominator - units % 2
    element = units * 2.0**exponent
    return element if abs(element) <= greatest else copysign(inf, number)


def minimal(names: Sequence[str], element_type: str) -> list[str]:
    """Return those of the arithmetics that contain no other one of them."""
    table = arithmetics(element_type)
    numbers = [table.names.index(name) for name in names]
    return [
        table.names[k] for k in numbers if not any(m != k and table.contains[k, m] for m in numbers)
    ]


def neighbours(element_type: str) -> list[tuple[str, str]]:
    """Return each pair of a tight arithmetic and a loose one that contains it, and none between."""
    table = arithmetics(element_type)
    contains = table.contains & ~np.eye(len(table.names), dtype=np.bool_)
    # What another one between them contains is no neighbour.
    direct = contains & ~(contains.astype(int) @ contains.astype(int) > 0)
    return [(table.names[tight], table.names[loose]) for loose, tight in np.argwhere(direct)]
