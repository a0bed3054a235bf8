"""What arguments of a call have in common with one another and with outputs, for all operators."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product

from opcert.arrays.calls import Call, Tensor, broadcasts
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.cases.integer_levels import NOT, Integers, Levels, place_names
from opcert.roles.data import DataRole
from opcert.roles.drawing import names_of_place
from opcert.roles.role import ListRole
from opcert.roles.slicing_steps import MaskRole
from opcert.specification.model import Spec

EQUAL_SHAPES, EQUAL_SIZES, EQUAL_OUTPUTS = "equal shapes", "equal sizes", "equal outputs"
STRETCHED, RANKS, WIDTHS, FEWER, MARKS = "stretched", "ranks", "widths", "fewer elements", "marks"
# Of an axis: that along which the operator works.
_OWN = "operator's"


def comparisons(
    spec: Spec,
    call: Call,
    data: Tensor | None,
    lists: Sequence[Integers],
    outputs: Sequence[Sequence[int]],
) -> Iterator[Levels]:
    """Yield how the arguments of a valid call compare with one another and with its outputs.

    `data` is what the integers of `lists` concern; `outputs` are the shapes of the outputs.
    """
    located = [own for own in lists if own.axes is not None]
    shape = () if data is None else data.shape
    yield from _shapes(spec, call, shape, located)
    yield EQUAL_SIZES, equal_sizes(spec, call)
    yield EQUAL_OUTPUTS, _equal_outputs(data, outputs)
    yield STRETCHED, _stretched(spec, call, outputs)
    yield WIDTHS, _widths(call)
    yield from _counts(call, located, len(shape))
    yield FEWER, shorter_lists(lists)
    yield MARKS, _order_of_marks(lists)


def _shapes(
    spec: Spec, call: Call, shape: Sequence[int], located: Sequence[Integers]
) -> Iterator[Levels]:
    """Yield how the shapes of inputs compare, also with that of the data.

    Only those of data may be scalars: that an axis is one says nothing about its rank.
    """
    own_axes = [own.axes for own in located if isinstance(own.axes, int)]
    shapes = {
        argument.name: tensor.shape
        for argument in spec.inputs
        if (tensor := call.inputs.get(argument.name))
        and (tensor.shape or isinstance(argument, DataRole))
    }
    pairs = [*combinations(shapes.items(), 2)]
    yield EQUAL_SHAPES, [f"{a} and {b}" for (a, m), (b, n) in pairs if m == n]
    ranks = [f"other in {a} than in {b}" for (a, m), (b, n) in pairs if len(m) != len(n)]
    for (a, m), (b, n) in permutations(shapes.items(), 2):
        ranks += [f"lower in {a} than in {b}"] if len(m) < len(n) else []
    yield RANKS, ranks
    for name, own in shapes.items():
        if len(own) == len(shape):
            axes = [k for k, (m, n) in enumerate(zip(own, shape, strict=True)) if m < n]
            names = {x for k in axes for x in place_names(k, len(shape))}
            if own_axes:
                names |= {_OWN if k in own_axes else f"{NOT}{_OWN}" for k in axes}
            yield f"{name} shorter", names


def equal_sizes(spec: Spec, call: Call) -> Iterator[str]:
    """Yield which inputs of several elements have equally many, whatever their shapes are."""
    named = {argument.name: call.inputs.get(argument.name) for argument in spec.inputs}
    sizes = {name: tensor.size for name, tensor in named.items() if tensor is not None}
    for (a, m), (b, n) in combinations(sizes.items(), 2):
        if m == n > 1:
            yield f"{a} and {b}"


def _stretched(spec: Spec, call: Call, outputs: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield which inputs NumPy stretches to the shape of the output, and along which axes."""
    stretched = []
    output = outputs[0] if outputs else ()
    shapes = {
        argument.name: call.inputs[argument.name].shape
        for argument in spec.inputs
        if isinstance(argument, DataRole) and argument.name in call.inputs
    }
    for name, shape in shapes.items():
        if axes := _stretched_axes(shape, output, shapes.values()):
            stretched.append(name)
            yield name
            places = {place for axis in axes for place in names_of_place(axis, len(output))}
            yield from (f"{name} along the {place} axis" for place in places)
            kept = {k for k, n in enumerate(output) if n > 1 and k not in axes}
            for side, neighbour in (("after", -1), ("before", 1)):
                if any(axis + neighbour in kept for axis in axes):
                    yield f"{name} along an axis {side} one that it keeps"
    if len(stretched) > 1:
        yield "several inputs"


def _stretched_axes(
    shape: Sequence[int], output: Sequence[int], others: Iterable[Sequence[int]]
) -> list[int]:
    """Return the axes of an output along which a smaller tensor is stretched.

    Where the tensor does not fit elsewhere, it is stretched to the extent of another one.
    """
    if len(shape) > len(output):
        return []

    def aligned(own: Sequence[int]) -> tuple[int, ...]:
        return (*[1] * (len(output) - len(own)), *own)

    fits = broadcasts(shape, output)
    extents = [aligned(own) for own in others if len(own) <= len(output)]
    return [
        k
        for k, (n, m) in enumerate(zip(aligned(shape), output, strict=True))
        if n == 1 < m and (fits or any(own[k] == m for own in extents))
    ]


def _widths(call: Call) -> Iterator[str]:
    """Yield how the type that an attribute names compares with those of inputs."""
    for (name, to), (other, tensor) in product(call.attributes.items(), call.inputs.items()):
        if isinstance(to, str) and to in ELEMENT_TYPES:
            own, size = (ELEMENT_TYPES[of].itemsize for of in (to, tensor.type))
            if own != size:
                yield f"{'wider' if own > size else 'narrower'} in {name} than in {other}"


def _counts(call: Call, located: Sequence[Integers], rank: int) -> Iterator[Levels]:
    """Yield whether lists have as many elements as the data has dimensions, or as an axis has."""
    for own in located:
        if isinstance(own.role, ListRole):
            counts = {"count": rank}
            if isinstance(own.axes, int):
                counts["amount"] = own.role.extent_in(call, own.axes) or 0
            for aspect, count in counts.items():
                difference = len(own.values) - count
                how = "fewer" if difference < 0 else "more" if difference else "as many"
                yield f"{own.role.name} {aspect}", [how]


def _equal_outputs(data: Tensor | None, outputs: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield what has the shape of an output: another one, or the data."""
    shapes = [(*output,) for output in outputs if 0 not in output]
    if len({*shapes}) < len(shapes):
        yield "two outputs with elements"
    if data is not None:
        own, count = [*data.shape], data.rank
        if own and any([*output[-count:]] == own for output in outputs):
            yield "the data and the last axes of an output"
        runs = ([*output[k : k + count]] for output in outputs for k in range(len(output)))
        if own and own in runs:
            yield "the data and consecutive axes of an output"
        long = [n for n in own if n != 1]
        if any([n for n in output if n != 1] == long for output in outputs):
            yield "the data and an output but for extents of 1"


def shorter_lists(lists: Iterable[Integers]) -> Iterator[str]:
    """Yield which lists have fewer elements than others."""
    for one, other in permutations((own for own in lists if isinstance(own.role, ListRole)), 2):
        if len(one.values) < len(other.values):
            yield f"{one.role.name} than {other.role.name}"


def _order_of_marks(lists: Iterable[Integers]) -> Iterator[str]:
    """Yield which masks mark a step after one that another mask marks."""
    masks = (own for own in lists if isinstance(own.role, MaskRole))
    marks = {own.role.name: [k for k, bit in enumerate(own.values) if bit] for own in masks}
    for (one, own), (other, others) in permutations(marks.items(), 2):
        if own and others and max(own) > min(others):
            yield f"{one} after one of {other}"
