"""The mutations of a spec: every small change of one argument that its signature suggests.

Mutations do not depend on the rules: the conditions of the spec determine what a mutated call
violates. Like a mutation operator of mutation testing (DeMillo, Lipton and Sayward, 1978), each
represents a class of mistakes, here in the checks of an implementation.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle, islice
from math import prod

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, fits
from opcert.arrays.patterns import MAX_STORED_BYTES
from opcert.arrays.tensor_functions import vector, with_type
from opcert.cases.attribute_changes import attribute_mutations
from opcert.cases.case import Change
from opcert.cases.list_mutations import (
    ELEMENTS,
    LENGTHS,
    POSITIONS,
    ElementMutation,
    ListMutation,
    MutationContext,
    mutations_at,
    number_list_mutations,
    order_mutations,
    require,
)
from opcert.errors import Inapplicable
from opcert.roles.argument import Input
from opcert.roles.role import Role
from opcert.roles.tensors import FillRole
from opcert.specification.model import Spec

# The position, the kind and the function of a mutation.
_Parts = tuple[str, str, ElementMutation]

# How large a mutated input may be: elements of data, and values that are listed.
_MAX_ELEMENTS = 1 << 17
_MAX_VALUES = 1 << 10
# The mutations of an integer that make sense for an extent.
_EXTENTS = (
    *("plus-one", "minus-one", "set-to-zero", "set-to-one", "doubled"),
    *("plus-2-8", "plus-2-16"),
)
_RANKS = {
    "without-first": "without-first-dimension",
    "without-last": "without-last-dimension",
    "without-last-two": "without-last-two-dimensions",
    "without-all": "without-dimensions",
    "first-alone": "first-dimension-alone",
    "with-one": "with-dimension",
    "with-one-before": "with-dimension-before",
    "with-two-ones-before": "with-two-dimensions-before",
}
# Of a variadic input, by the names of mutations of lists.
_COUNTS = ("without-first", "without-last", "first-alone")
# Other shapes for the same n values.
_SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "scalar": lambda _: (),
    "one-dimension": lambda n: (n,),
    "row": lambda n: (1, n),
    "column": lambda n: (n, 1),
    "cube": lambda n: (1, n, 1),
    "four-dimensions": lambda n: (1, 1, 1, n),
    "square": lambda n: (2, n // 2),
}
# Shapes for a single value that is repeated.
_REPETITIONS: dict[str, tuple[int, ...]] = {
    "none": (0,),
    "two": (2,),
    "three": (3,),
    "row-of-two": (1, 2),
    "column-of-two": (2, 1),
}

# The kind of a mutation that omits an argument.
OMITTED = "omitted"


@dataclass(frozen=True)
class Mutation:
    """A small change of one argument.

    `position` names which of several elements, records or dimensions change, and is "" if there is
    only one. `kind` names the change. With `adds`, the mutation adds an argument that calls omit.
    """

    argument: str
    position: str
    kind: str
    function: ElementMutation
    adds: bool = False

    @cached_property
    def change(self) -> Change:
        """The change that it makes to a call."""
        return Change(self.kind, self.argument, self.position)

    @cached_property
    def name(self) -> str:
        """The words that name it in the id of a case."""
        return self.change.name

    def apply(self, spec: Spec, call: Call, context: MutationContext) -> Call | None:
        """Return the mutated call; None where the mutation does not apply, or changes nothing."""
        value = call.arguments.get(self.argument)
        if self.kind == OMITTED:
            return None if value is None else call.changed(self.argument, None, spec.defaults)
        if self.adds:
            value = call.inputs[spec.leading_key] if value is None else None
        elif value is None:
            # An omitted argument has its default.
            value = spec.defaults[self.argument]
        with suppress(Inapplicable):
            mutated = value if value is None else self.function(value, context)
            if mutated != value:
                return call.changed(self.argument, mutated, spec.defaults)
        return None


def mutations_of(spec: Spec) -> list[Mutation]:
    """Return every mutation of the calls of a spec, in the order of its arguments."""
    mutations: list[Mutation] = []
    for argument in spec.inputs:
        parts = [_OMISSION, *_tensor_mutations()]
        if argument.variadic is not None:
            parts = [_OMISSION, *_variadic_mutations()]
        elif argument.name in spec.number_inputs:
            parts += _value_mutations(spec.type_sets[argument.type])
        elif isinstance(argument, FillRole):
            parts += _repetitions()
        mutations += [Mutation(argument.name, *part) for part in parts]
        if not argument.required:
            added = _added_values(spec, argument)
            mutations += [Mutation(argument.name, *part, adds=True) for part in added]
    for attribute in spec.attributes:
        parts = [_OMISSION, *attribute_mutations(spec, attribute)]
        mutations += [Mutation(attribute.name, *part) for part in parts]
    return mutations


_OMISSION: _Parts = ("", OMITTED, lambda _, __: None)


def _tensor_mutations() -> Iterator[_Parts]:
    """Yield mutations of the element type, the rank and the extents of an input."""
    # A document without 4-bit types leaves open whether they are integer types.
    for name in ELEMENT_TYPES:
        if name not in FOUR_BIT_TYPES:
            yield "", f"as-{name}", partial(_with_type, name)
    for name, kind in _RANKS.items():
        yield "", kind, partial(_with_extents, LENGTHS[name])
    extents = {f"extent-{name}": ELEMENTS[name] for name in _EXTENTS}
    for position, name, mutation in mutations_at(POSITIONS, extents):
        yield position, name, partial(_with_extents, mutation)
    for position, name, mutation in order_mutations():
        yield position, f"extents-{name}", partial(_with_extents, mutation)


def _variadic_mutations() -> Iterator[_Parts]:
    """Yield mutations of the number of tensors, of one of them, and of all of them alike."""
    for name in _COUNTS:
        yield "", name, LENGTHS[name]
    for within, kind, mutation in _tensor_mutations():
        for which in ("every", "first", "middle", "last"):
            position = "-".join(part for part in (which, within) if part)
            yield position, kind, partial(_on_tensors, which, mutation)


def _on_tensors(
    which: str, mutation: ElementMutation, value: tuple[Tensor, ...], context: MutationContext
) -> tuple[Tensor, ...]:
    """Mutate one tensor of a variadic input that has several, or every one."""
    last = len(value) - 1
    if which == "every":
        return tuple(mutation(tensor, context) for tensor in value)
    number = {"first": 0, "middle": len(value) // 2, "last": last}[which]
    require(last >= 1 and not (which == "middle" and number == last))
    return (*value[:number], mutation(value[number], context), *value[number + 1 :])


def _value_mutations(types: Sequence[str]) -> Iterator[_Parts]:
    """Yield mutations of an input of numbers of some types, such as axes, indices or lengths."""
    for name, shape_of in _SHAPES.items():
        yield "", name, partial(_reshaped, shape_of)
    yield from _repetitions()
    for position, name, mutation in number_list_mutations(types):
        yield position, name, partial(_with_values, mutation)


def _repetitions() -> Iterator[_Parts]:
    """Yield mutations of a single element to none or to several."""
    for name, shape in _REPETITIONS.items():
        yield "", name, partial(_repeated, shape)


def _with_type(element_type: str, value: Tensor, _: MutationContext) -> Tensor:
    return with_type(value, element_type)


def _reshaped(
    shape_of: Callable[[int], tuple[int, ...]], value: Tensor, _: MutationContext
) -> Tensor:
    shape = shape_of(value.size)
    require(value.values is not None and prod(shape) == value.size)
    return replace(value, shape=shape)


def _repeated(shape: tuple[int, ...], value: Tensor, _: MutationContext) -> Tensor:
    require(value.size == 1)
    values = None if value.values is None else value.values * prod(shape)
    return replace(value, shape=shape, values=values)


def _with_extents(mutation: ListMutation, value: Tensor, context: MutationContext) -> Tensor:
    """Mutate the extents of data, or of values of rank 2 or more, which are cut or repeated."""
    require(value.values is None or (value.rank >= 2 and value.size <= _MAX_VALUES))
    shape = tuple(mutation(value.shape, context))
    require(all(extent >= 0 for extent in shape))
    # An empty tensor must not have a billion rows either.
    require(prod(max(extent, 1) for extent in shape) <= max(_MAX_ELEMENTS, value.size))
    if value.values is None:
        # A pack would store all of a large tensor of one repeated element.
        mutated = replace(value, shape=shape)
        is_large = mutated.nbytes > max(MAX_STORED_BYTES, value.nbytes)
        return replace(mutated, uniform="no") if is_large else mutated
    size = prod(shape)
    require(size <= _MAX_VALUES and value.values)
    return replace(value, shape=shape, values=tuple(islice(cycle(value.values), size)))


def _with_values(mutation: ListMutation, value: Tensor, context: MutationContext) -> Tensor:
    """Mutate the values of a tensor that has some, within the limits of its type."""
    former = value.values or ()
    require(value.values is not None and len(former) <= _MAX_VALUES)
    values = mutation(former, context._replace(type=value.type))
    require(all(fits(value.type, number) for number in {*values}.difference(former)))
    shape = value.shape if len(values) == len(former) else (len(values),)
    return replace(value, shape=shape, values=tuple(values))


def _added_values(spec: Spec, argument: Input | Role) -> Iterator[_Parts]:
    """Yield values for an optional input that a call omits.

    It is a scalar of the type of the leading input, or a list: empty, or with one integer for each
    dimension of the leading input.
    """
    if argument.type == spec.leading.type:
        yield "", "added-scalar", lambda leading, _: Tensor(leading.type, ())
        return
    for name in ("i64", "i32"):
        if name in spec.type_sets[argument.type]:
            yield "", f"added-empty-{name}", lambda *_, name=name: Tensor(name, (0,), ())
            yield "", f"added-{name}", partial(_one_for_each_dimension, name)


def _one_for_each_dimension(element_type: str, leading: Tensor, _: MutationContext) -> Tensor:
    return vector(element_type, tuple(range(leading.rank)))
