"""Reshape: the same elements in another shape."""

from math import prod

from opcert.reference.rules import Array, is_integer, require, requires_arguments


@requires_arguments("reshape-1/required-arguments")
def reshape_1(data: Array, shape: Array, special_zero: bool) -> list[Array]:
    """Give `data` another `shape`; 0 copies a size with `special_zero`, -1 is inferred.

    Shapes: data (any), shape (rank of the output,).

    Source: OpenVINO Reshape-1, "Detailed description" and "Attributes".

    Raises:
        RuleBroken: the call violates a rule of the document.
    """
    require(is_integer(shape), "reshape-1/shape-type", f"shape of {shape.dtype}")
    require(shape.ndim == 1, "reshape-1/shape-rank", f"shape of rank {shape.ndim}")
    sizes = shape.tolist()
    least = all(size >= -1 for size in sizes)
    require(least, "reshape-1/sizes-not-below-minus-one", f"shape {sizes}")
    require(sizes.count(-1) <= 1, "reshape-1/one-minus-one", f"shape {sizes}")
    if special_zero:
        text = f"shape {sizes} for data of rank {data.ndim}"
        require(0 not in sizes[data.ndim :], "reshape-1/zero-has-dimension", text)
        copied = zip(sizes, data.shape, strict=False)
        sizes[: data.ndim] = [size or extent for size, extent in copied]
    known = prod(size for size in sizes if size != -1)
    text = f"shape {sizes} for {data.size} elements"
    if -1 in sizes:
        is_divisor = known > 0 and data.size % known == 0
        require(is_divisor, "reshape-1/inferred-size", text)
        sizes[sizes.index(-1)] = data.size // known
    else:
        require(known == data.size, "reshape-1/same-volume", text)
    return [data.copy(order="C").reshape(sizes)]
