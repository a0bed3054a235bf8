"""The base classes of roles: what an argument is to the others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from pydantic import JsonValue

from opcert.arrays.calls import Call
from opcert.arrays.element_types import INTEGERS
from opcert.arrays.tensor_functions import vector
from opcert.errors import OpcertError
from opcert.roles.argument import PLAIN_TYPES, Argument, ElementKind, RankBounds, integers_in
from opcert.roles.drawing import Drawing

_USUAL_INDEX_TYPES = ("i64", "i32")
RelatedRole = TypeVar("RelatedRole", bound="Role")
OMITTED = "omitted"


@dataclass(frozen=True)
class Requirement:
    """A requirement that follows from a role; the spec adds the clause.

    A spec refers to it by `key`. `prerequisites` are keys of other requirements.
    """

    key: str
    text: str
    holds: str
    when: str = "True"
    prerequisites: Sequence[str] = ()


@dataclass(frozen=True)
class DerivedAmbiguity:
    """An ambiguity that follows from a role; the spec adds the readings.

    A spec refers to it by `key`; `touches` is the condition on the calls that depend on it.
    """

    key: str
    text: str
    touches: str


@dataclass(frozen=True)
class Signature:
    """The arguments of an operator in order, the element types of its symbols, its constants.

    `computed_types` are the types of outputs that it computes, some of which an attribute names.
    """

    arguments: Mapping[str, Argument]
    types: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, Mapping[str, str]]
    computed_types: Sequence[str] = ()

    @cached_property
    def roles(self) -> list["Role"]:
        """The arguments with a role."""
        return [argument for argument in self.arguments.values() if isinstance(argument, Role)]


class Role(Argument):
    """An argument with a role; the base class of all roles, including those of vendors.

    A role draws its argument, states the requirements that follow from it, and says which axis of
    data its integers concern. A subclass must define `draw`; every other method has a default.
    """

    # The keys that name other arguments, and the roles that these arguments may have.
    relations: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # Whether its integers are axes of data, or numbers of axes.
    counts_axes: ClassVar[bool] = False
    # What the elements of a list attribute are.
    elements: ClassVar[ElementKind | None] = None

    role: str
    required: bool = True
    rank: RankBounds = ("0", "0")
    default: JsonValue = None
    one_of: tuple[str, ...] | None = None
    _bound: Signature

    # Relations to the other arguments

    @cached_property
    def _signature(self) -> Signature:
        # Draws read it dozens of times, and pydantic takes long to find a private attribute.
        return self._bound

    def bind_to(self, signature: Signature) -> None:
        """Set the signature that the role is part of."""
        self._bound = signature
        # Cached properties depend on the former signature.
        for name in self.__dict__.keys() - type(self).model_fields.keys():
            del self.__dict__[name]

    def completed(self) -> "Role":
        """Return the role with the rank and range that follow from its signature."""
        # Only integers have a range: a list has none.
        bounds = None if self.type == "list" else self.bounds()
        derived = {"rank": self.rank_bounds(), "range": bounds}
        unwritten = derived.keys() - self.model_fields_set
        return self.model_copy(update={key: derived[key] for key in unwritten})

    def related(self, name: str, kind: type[RelatedRole]) -> RelatedRole:
        """Return the argument `name`, whose role is of the class `kind`."""
        role = self._signature.arguments[name]
        if not isinstance(role, kind):
            raise TypeError(f"the role of '{name}' is {type(role).__name__}, not {kind.__name__}")
        return role

    def referrers(self, key: str, kind: type[RelatedRole]) -> list[RelatedRole]:
        """Return the arguments of the class `kind` that name this one under `key`."""
        roles = [role for role in self._signature.roles if isinstance(role, kind)]
        # Draws ask for it, and pydantic takes long to find that there is no such key.
        return [role for role in roles if vars(role).get(key) == self.name]

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield each mistake of the role in its signature: the key at fault, and a message."""
        return iter(())

    def type_mistakes(self, other: str) -> Iterator[tuple[str, str]]:
        """Yield that its type symbol is not that of another argument, whose type it has."""
        symbol = self._signature.arguments[other].type
        if self.type != symbol:
            text = f"type symbol '{self.type}' differs from that of '{other}'"
            yield "type", f"{text}; expected '{symbol}'"

    # Expressions for conditions

    @property
    def is_attribute(self) -> bool:
        """Whether it is an attribute, not a tensor."""
        return self.type in PLAIN_TYPES

    @property
    def given_expr(self) -> str:
        """The condition that a call does not omit it; an omitted one may mean its default."""
        has_value = self.required or self.default is not None
        return "True" if has_value else f"{self.name} is not None"

    def keys_in(self, text: str) -> tuple[str, ...]:
        """Return the keys of requirements without which an expression may not be evaluated."""
        names = [name for name in re.findall(r"[A-Za-z_]\w*", text) if name != self.name]
        named = [name for name in dict.fromkeys(names) if name in self._signature.arguments]
        aspects = ("type", "rank", "shape", "length", "range", "extents")
        return tuple(f"{name}.{aspect}" for name in named for aspect in aspects)

    # What properties of finished calls are found with

    def values_in(self, call: Call) -> Sequence[int]:
        """Return its integers in a call: those of a list, or a single one; none if it has none."""
        return integers_in(call.arguments.get(self.name))

    def axes_in(self, call: Call) -> int | Sequence[int | None] | None:
        """Return the axis of data that each of its integers concerns in a valid call.

        It is one axis for all of them, or None if they concern none.
        """
        del call
        return None

    def extent_in(self, call: Call, axis: int) -> int | None:
        """Return the size that matters to integers that concern an axis of data, if one does."""
        data = getattr(self, "data", None)
        if data is None:
            return None
        shape = data.tensor_of(call).shape
        if self.counts_axes:
            return len(shape)
        return shape[axis] if axis < len(shape) else 0

    def selected_in(self, call: Call) -> Mapping[int, range]:
        """Return the range of indices that a valid call selects of each axis of data it slices."""
        del call
        return {}

    # What a subclass overrides

    def draw(self, call: Drawing) -> Any:
        """Return its tensor, its attribute, or None if the call omits it.

        Raises:
            Inapplicable: it has no value that fits what is drawn already.
        """
        del call
        raise OpcertError(f"the role '{self.role}' of '{self.name}' has no method draw")

    def draw_type(self, call: Drawing) -> str:
        """Draw its element type, which all arguments of one symbol share.

        The integers of an attribute are those of 64 bits.
        """
        if self.is_attribute:
            return "i64"
        first = self._first_of_type
        if isinstance(first, Role) and first.name != self.name:
            return call.fact(first.draw_type)
        # Most runtimes take indices of few types, all of them of one: half of the calls have these.
        usual = self._usual_types
        if usual and not call.choices.integer("unusual types of indices", 0, 1):
            return call.choices.one("type of indices", usual)
        return call.one(self, "type", self._signature.types[self.type])

    @cached_property
    def _first_of_type(self) -> Argument:
        """The first argument of its type symbol."""
        arguments = self._signature.arguments.values()
        return next(argument for argument in arguments if argument.type == self.type)

    @cached_property
    def _usual_types(self) -> list[str]:
        """The types of indices that most runtimes take, if it may be of integer types alone."""
        types = self._signature.types[self.type]
        is_index = set(types) <= set(INTEGERS)
        return [name for name in _USUAL_INDEX_TYPES if is_index and name in types]

    def draw_given(self, call: Drawing) -> bool:
        """Draw whether the call passes it."""
        return self.required or call.one(self, "given", {"given": True, OMITTED: False})

    @property
    def ranks(self) -> range:
        """The ranks that its tensor may have."""
        least, most = map(int, self.rank)
        return range(least, most + 1)

    def draw_rank(self, call: Drawing) -> int:
        """Draw the rank of its tensor."""
        return len(call.fact(self.draw_shape))

    def draw_shape(self, call: Drawing) -> tuple[int, ...]:
        """Draw the shape of its tensor, which other arguments may share."""
        raise NotImplementedError

    def rank_bounds(self) -> tuple[str, str]:
        """Return the least and the greatest rank, unless the spec gives them."""
        return self.rank

    def bounds(self) -> tuple[str, str] | None:
        """Return the least and the greatest valid value, at which mutations aim."""
        return None

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirements that follow from the role."""
        types = self._signature.types.get(self.type)
        if types is not None and set(types) <= set(INTEGERS):
            is_any = set(types) == set(INTEGERS)
            names = "INTEGERS" if is_any else str(list(types))
            kind = "an integer type" if is_any else f"one of the types {', '.join(types)}"
            text, holds = f"{self.name} is of {kind}.", f"{self.name}.type in {names}"
            yield self.requirement("type", text, holds)

    def requirement(
        self, aspect: str, text: str, holds: str, *prerequisites: str, when: str | None = None
    ) -> Requirement:
        """Return a requirement on it, by default of all calls that do not omit it.

        Prerequisites are other aspects of it, or keys of requirements on other arguments.
        """
        when = self.given_expr if when is None else when
        keys = tuple(key if "." in key else f"{self.name}.{key}" for key in prerequisites)
        return Requirement(f"{self.name}.{aspect}", text, holds, when, keys)

    def same_type(self, other: str, *keys: str) -> Requirement:
        """Return the requirement that it has the type of another tensor."""
        text, holds = f"{self.name} has the type of {other}.", f"{self.name}.type == {other}.type"
        return self.requirement("type", text, holds, *keys)

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield the ambiguities that follow from what the spec declares."""
        return iter(())


class ListRole(Role):
    """A list of integers: a one-dimensional tensor, or an attribute."""

    def rank_bounds(self) -> tuple[str, str]:
        """Return rank 1."""
        return ("1", "1")

    @property
    def values_expr(self) -> str:
        """The expression of its list of integers."""
        return self.name if self.is_attribute else f"{self.name}.values"

    @property
    def length_expr(self) -> str:
        """The expression of the number of its integers."""
        return f"len({self.name})" if self.is_attribute else f"{self.name}.size"

    def drawn_list(self, call: Drawing, values: Sequence[int]) -> Any:
        """Return drawn values as an attribute, or as a tensor of its type in some layout.

        Raises:
            Inapplicable: a value does not fit the type.
        """
        if self.is_attribute:
            return [*values]
        return call.laid_out(self, vector(call.fact(self.draw_type), tuple(values)))

    @property
    def list_keys(self) -> tuple[str, ...]:
        """The keys of the requirements that make it a list; an attribute is one anyway."""
        return () if self.is_attribute else (f"{self.name}.type", f"{self.name}.rank")

    def of_each(self, aspect: str, text: str, item: str, holds: str, *keys: str) -> Requirement:
        """Return the requirement that a condition holds of each of its integers, by name `item`."""
        condition = f"all({holds} for {item} in {self.values_expr})"
        return self.requirement(aspect, text, condition, *self.list_keys, *keys)

    def requirements(self) -> Iterator[Requirement]:
        """Yield the type and the rank of a tensor."""
        yield from super().requirements()
        if not self.is_attribute:
            is_list = self.rank_bounds()[0] == "1"
            text = f"{self.name} is {'' if is_list else 'a scalar or '}one-dimensional."
            holds = f"{self.name}.rank {'==' if is_list else '<='} 1"
            yield self.requirement("rank", text, holds)
