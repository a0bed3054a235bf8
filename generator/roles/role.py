"""A role: what an argument is to the others, with all that follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from pydantic import JsonValue, PrivateAttr

from opcert.arrays import INTEGERS, Call, Layout, Tensor, vector, with_layout
from opcert.roles.argument import Argument, BoundExpressions
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    DerivedAmbiguity,
    DerivedFactor,
    Factor,
    LevelName,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
)

Partner = TypeVar("Partner", bound="Role")
ATTRIBUTE_TYPES = ("int", "string", "list")
OMITTED = "omitted"
LIST_LAYOUTS = ("c", "reversed", "gapped")


@dataclass(frozen=True)
class Signature:
    """The arguments of an operator, in order, and its type symbols with their element types."""

    arguments: Mapping[str, Argument]
    types: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, Mapping[str, str]]

    @cached_property
    def roles(self) -> list["Role"]:
        """The arguments that have a role."""
        return [each for each in self.arguments.values() if isinstance(each, Role)]

    def arguments_of(self, symbol: str) -> list[Argument]:
        """Return the arguments with a type symbol."""
        return [each for each in self.arguments.values() if each.type == symbol]


class Role(Argument):
    """An argument with a role.

    The base class of all roles, also of a vendor's own. A role adds factors, builds its argument
    for a choice of their levels, and observes in a finished call which levels it exhibits. Every
    other method has an answer for a role that has nothing to say.
    """

    # The keys that name other arguments, and the roles that those must have (by name).
    relations: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    role: str
    required: bool = True
    rank: BoundExpressions = ("0", "0")
    default: JsonValue = None
    one_of: tuple[str, ...] | None = None
    _signature: Signature = PrivateAttr()

    def bound(self, signature: Signature) -> "Role":
        """Return the role among the other arguments, with the rank and range that follow."""
        role = self.model_copy()
        role.bind_to(signature)
        ends = {"rank": role.rank_bounds(), "range": role.bounds()}
        written = self.model_fields_set
        return role.model_copy(
            update={key: value for key, value in ends.items() if key not in written}
        )

    def bind_to(self, signature: Signature) -> None:
        """Place the role among the other arguments."""
        self._signature = signature
        # What is cached was worked out among others.
        for name in self.__dict__.keys() - type(self).model_fields.keys():
            del self.__dict__[name]

    def rank_bounds(self) -> BoundExpressions:
        """Return the least and the greatest rank, where the spec does not give them."""
        return self.rank

    def bounds(self) -> BoundExpressions | None:
        """Return the least and the greatest value, where the spec does not give them."""
        return None

    def named_by(self, key: str) -> list["Role"]:
        """Return the arguments that name this one under `key`."""
        return [each for each in self._signature.roles if getattr(each, key, None) == self.name]

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the role among the others: the key at fault, and the text."""
        return iter(())

    def partner(self, name: str, kind: type[Partner]) -> Partner:
        """Return the argument `name`, whose role is of the class `kind`."""
        role = self._signature.arguments[name]
        if not isinstance(role, kind):
            raise TypeError(f"the role of '{name}' is no {kind.__name__}")
        return role

    @property
    def is_attribute(self) -> bool:
        """Whether it is an attribute, and no tensor."""
        return self.type in ATTRIBUTE_TYPES

    @property
    def numbers(self) -> str:
        """The expression of its list of numbers."""
        return self.name if self.is_attribute else f"{self.name}.values"

    @property
    def length(self) -> str:
        """The expression of how many numbers its list has."""
        return f"len({self.name})" if self.is_attribute else f"{self.name}.size"

    @property
    def is_given(self) -> str:
        """The condition that a call does not omit it."""
        return "True" if self.required else f"{self.name} is not None"

    @property
    def number(self) -> str:
        """The expression of its one number."""
        return self.name if self.is_attribute else f"{self.name}.values[0]"

    def factor(self, aspect: str) -> str:
        """Return the name of its factor for `aspect`."""
        return f"{self.name}_{aspect}"

    @cached_property
    def type_factor(self) -> str:
        """The factor of its element type, which the arguments of one symbol share."""
        return f"{self._signature.arguments_of(self.type)[0].name}_type"

    def type_factors(self, profile: str) -> Iterator[Factor]:
        """Yield the factor of its element type, unless another argument has it."""
        if self.is_attribute or self.type_factor != self.factor("type"):
            return
        sharing = self._signature.arguments_of(self.type)
        levels = [*self._signature.types[self.type]]
        if profile == "stress":
            levels = [each for each in ("i64", "i32", "u32") if each in levels] or levels
        words = {each: f"{self.name} of {each}" for each in levels}
        if not any(each.required for each in sharing):
            levels, words = [OMITTED, *levels], {**words, OMITTED: f"{self.name} omitted"}
        yield Factor(self.type_factor, {each: each for each in levels}, words=words)

    def list_layout(self) -> Factor:
        """Return the factor of how a list of integers lies in memory."""
        words = {"c": "", "reversed": f"{self.name} backwards in memory"}
        words["gapped"] = f"{self.name} with gaps"
        return Factor(self.factor("layout"), {each: each for each in LIST_LAYOUTS}, words=words)

    def omission(self, factor: str, level: str) -> Iterator[Constraint]:
        """Yield that its type is omitted where `factor` has the level that omits it."""
        if self.is_attribute or self.required:
            return
        sharing = self._signature.arguments_of(self.type)
        if any(each.required for each in sharing):
            return
        about = (LevelName(factor), LevelName(self.type_factor))
        yield forbid(lambda own, of_type: own != level and of_type == OMITTED, *about)
        if len(sharing) == 1:
            yield forbid(lambda own, of_type: own == level and of_type != OMITTED, *about)

    def integers(self, scene: BuildContext, values: Sequence[int], layout: Layout = "c") -> Tensor:
        """Return a one-dimensional tensor of its type."""
        return with_layout(vector(scene.choice[self.type_factor], tuple(values)), layout)

    def is_in(self, call: Call) -> bool:
        """Whether a call does not omit it."""
        return self.name in call.inputs or call.attributes.get(self.name) is not None

    def values_in(self, call: Call) -> tuple[int, ...]:
        """Return its integers in a call; none where it is omitted."""
        if self.is_attribute:
            return tuple(call.attributes.get(self.name) or ())
        tensor = call.inputs.get(self.name)
        return () if tensor is None or tensor.values is None else tuple(map(int, tensor.values))

    def observed_type(self, call: Call) -> dict[str, Any]:
        """Return the element type that a call has in its place."""
        if self.is_attribute or self.type_factor != self.factor("type"):
            return {}
        sharing = [each.name for each in self._signature.arguments_of(self.type)]
        types = [call.inputs[name].type for name in sharing if name in call.inputs]
        return {self.type_factor: types[0] if types else OMITTED}

    # What a role says of the input space.

    def factors(self, profile: str) -> Iterator[Factor]:
        """Yield its factors."""
        yield from self.type_factors(profile)

    def constraints(self) -> Iterator[Constraint]:
        """Yield the combinations of levels that cannot occur."""
        return iter(())

    def masking(self) -> Iterator[Constraint]:
        """Yield the levels under which an output cannot show a fault in the other factors."""
        return iter(())

    def derived(self) -> Iterator[DerivedFactor]:
        """Yield the factors that others determine."""
        return iter(())

    def full_combinations(self) -> Iterator[tuple[str, ...]]:
        """Yield the factors that are covered exhaustively together."""
        return iter(())

    def build(self, scene: BuildContext) -> Any:
        """Return its tensor or its attribute for a choice, or None where it is omitted."""
        raise NotImplementedError

    @property
    def shapes(self) -> Sequence[str]:
        """The arguments whose shape this role decides."""
        return ()

    def shape_for(self, argument: "Role", scene: BuildContext) -> tuple[int, ...]:
        """Return the shape of one of `shapes` for a choice."""
        raise NotImplementedError

    def observation_points(self, _call: Call) -> list[ObservationPoint]:
        """Return the places of a call at which its factors show, where there are several."""
        return []

    def observe(self, call: Call, _focus: ObservationPoint) -> ObservedLevels:
        """Return the levels that a valid call exhibits at a place."""
        return ObservedLevels(self.observed_type(call))

    def requirements(self) -> Iterator[Requirement]:
        """Yield what it requires of a call."""
        symbol = self._signature.types.get(self.type)
        if symbol is not None and set(symbol) <= set(INTEGERS):
            is_all = set(symbol) == set(INTEGERS)
            types = "INTEGERS" if is_all else str(list(symbol))
            kind = "an integer type" if is_all else f"one of the types {', '.join(symbol)}"
            yield Requirement(
                f"{self.name}.type",
                f"{self.name} is of {kind}.",
                f"{self.name}.type in {types}",
                self.is_given,
            )

    def ambiguities(self) -> Iterator[DerivedAmbiguity]:
        """Yield what its document does not decide."""
        return iter(())
