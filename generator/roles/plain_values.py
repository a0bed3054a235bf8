"""The roles `flag`, `mode`, `number` and `real`: truth values, words and numbers.

A mode can select whether other arguments are given.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from opcert.accuracy.arithmetics import nearest
from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import highest, lowest
from opcert.errors import Inapplicable, did_you_mean
from opcert.roles.argument import ExpressionText
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.role import OMITTED, ListRole, Requirement, Role

# The forms of a tensor of one element, and its shapes.
Form = Literal["scalar", "one_element"]
FORMS: Mapping[Form, tuple[int, ...]] = {"scalar": (), "one_element": (1,)}
_FORM_WORDS = {"scalar": "a scalar", "one_element": "a tensor of shape [1]"}


class OneElementRole(Role):
    """An attribute, or a tensor of one element in one of the allowed forms."""

    form: tuple[Form, ...] = ("scalar",)

    def rank_bounds(self) -> tuple[str, str]:
        """Return the least and the greatest rank of its forms."""
        ranks = [len(FORMS[form]) for form in self.form]
        return (str(min(ranks)), str(max(ranks)))

    def draw_form(self, call: Drawing) -> tuple[int, ...]:
        """Draw the shape of its tensor."""
        return FORMS[call.one(self, "form", self.form)]

    def form_requirement(self, *prerequisites: str) -> Requirement:
        """Return the requirement that it has one of its forms."""
        text = f"{self.name} is {' or '.join(_FORM_WORDS[form] for form in self.form)}."
        holds = f"{self.name}.shape in {[FORMS[form] for form in self.form]}"
        return self.requirement("shape", text, holds, *prerequisites)


class WordRole(Role):
    """The base class of roles of a few values; one that is not required has a `default`."""

    # What is chosen: it names the choice.
    aspect: ClassVar[str]

    @property
    def words(self) -> Mapping[str, Any]:
        """Its values, by the words for them: those of `one_of` mean themselves."""
        return {word: word for word in self.one_of or ()}

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report that it may be omitted, but has no default."""
        if not self.required and self.default is None:
            text = f"missing default of a {self.role} that may be omitted"
            yield "required", f"{text}; expected {' or '.join(self.words)}"

    def draw_meant(self, call: Drawing) -> Any:
        """Draw the value that it means: the default if it is omitted."""
        value = call.fact(self.draw)
        return self.default if value is None else value

    def draw(self, call: Drawing) -> Any:
        """Return the value, None if it is omitted."""
        words = dict(sorted(self.words.items(), key=lambda item: item[1] != self.default))
        return call.one(self, self.aspect, words if self.required else {**words, OMITTED: None})


class FlagRole(WordRole):
    """True or false, which select one of two variants of the operator."""

    aspect: ClassVar = "value"

    role: Literal["flag"]
    type: Literal["boolean"] = "boolean"
    default: bool | None = None

    @property
    def words(self) -> Mapping[str, Any]:
        """True and false."""
        return {"true": True, "false": False}


class ModeRole(WordRole):
    """One of several words, `one_of`, that select a variant of the operator.

    Whether other spellings are valid is not part of the role: most documents leave it open.
    """

    aspect: ClassVar = "word"

    role: Literal["mode"]
    type: Literal["string"] = "string"
    one_of: tuple[str, ...] = Field(min_length=1)

    @property
    def word_requirement(self) -> str:
        """The key of the requirement on its word."""
        return f"{self.name}.word"

    def unknown(self, word: str) -> str:
        """Return the message that it has no such word."""
        return f"unknown word '{word}' of '{self.name}'{did_you_mean(word, [*self.one_of])}"

    def is_one_of(self, words: Sequence[str]) -> str:
        """Return the condition that the mode is one of `words`."""
        return f"{self.name} == '{words[0]}'" if len(words) == 1 else f"{self.name} in {[*words]}"

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirement that the mode is one of its words."""
        words = self.one_of
        text = f"{self.name} is {' or '.join(words)}."
        yield self.requirement("word", text, f"{self.name} in {[*words]}")


class OfModeRole(Role):
    """The base class of roles that may depend on a mode, which `mode` names."""

    mode: str | None = None

    @property
    def mode_role(self) -> ModeRole | None:
        """The mode that it depends on, if there is one."""
        return None if self.mode is None else self.related(self.mode, ModeRole)


class SelectedRole(OfModeRole):
    """The base class of roles that are given only if their mode, if there is one, is `mode_is`."""

    mode_is: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an unknown word of the mode, and missing or superfluous keys."""
        yield from super().mistakes()
        mode, word = self.mode_role, self.mode_is
        if mode is None:
            if word is not None:
                yield "mode_is", "missing key 'mode'; expected it together with 'mode_is'"
        elif word is None:
            yield "mode", f"missing key 'mode_is'; expected {' or '.join(mode.one_of)}"
        elif word not in mode.one_of:
            yield "mode_is", mode.unknown(word)
        elif self.required:
            text = f"required in every mode, but given only if '{mode.name}' is {word}"
            yield "mode", f"{text}; expected 'required: false'"

    def is_selected(self, call: Drawing) -> bool:
        """Draw whether the mode, if there is one, has a use for it."""
        mode = self.mode_role
        return mode is None or call.fact(mode.draw_meant) == self.mode_is

    @property
    def given_expr(self) -> str:
        """The condition that it is given where the mode has a use for it."""
        mode, given = self.mode_role, super().given_expr
        return given if mode is None else f"{mode.is_one_of([str(self.mode_is)])} and {given}"

    @property
    def selected_keys(self) -> tuple[str, ...]:
        """The keys of the requirements that this condition relies on."""
        return () if self.mode_role is None else (self.mode_role.word_requirement,)


class NumberRole(ListRole, OneElementRole):
    """An integer, or a list of them: an attribute or a tensor.

    `range` are expressions of the least and the greatest valid one; without it, any integer of the
    type is valid. The integers that are drawn are near the size `next_to`, which is by default the
    greatest. With `each`, an expression of a list of sizes, it is a list with one integer for each,
    near that size. `form` lists the allowed forms of a tensor that is no list.
    """

    role: Literal["number"]
    next_to: ExpressionText = "1"
    each: ExpressionText | None = None

    def rank_bounds(self) -> tuple[str, str]:
        """Return the rank of a list, or the ranks of its forms."""
        own = OneElementRole if self.each is None else ListRole
        return own.rank_bounds(self)

    def draw(self, call: Drawing) -> Any:
        """Return the integers; one of them is near a size, a bound or the limits of its type."""
        if not call.fact(self.draw_given):
            return None
        element_type = call.fact(self.draw_type)
        least, most = lowest(element_type), highest(element_type)
        if self.range is not None:
            lower, upper = call.evaluate_integers(f"[{self.range[0]}, {self.range[1]}]")
            least, most = max(least, lower), min(most, upper)
        if least > most:
            raise Inapplicable(f"no integer is from {least} to {most}")
        size = self.range[1] if self.range else self.next_to
        sizes = call.evaluate_integers(self.each or f"[{size}]")
        values = [
            call.integer(self, f"value {k}", max(least, min(most, -n)), min(most, max(least, n)))
            for k, n in enumerate(sizes)
        ]
        if sizes:
            place = call.one(self, "place", places(len(sizes)))
            named = {"the least": least, **near(sizes[place], element_type), "the most": most}
            named["any"] = call.integer(self, "any", least, most)
            valid = {name: value for name, value in named.items() if least <= value <= most}
            values[place] = call.one_near(self, "value", valid)
        if self.each is not None:
            return self.drawn_list(call, values)
        if self.is_attribute:
            return values[0]
        return call.laid_out(self, Tensor(element_type, self.draw_form(call), tuple(values)))

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type, its form or its length, and its range."""
        name, keys, values = self.name, [*self.list_keys], self.values_expr
        if self.each is not None:
            yield from super().requirements()
            text = f"{name} has as many elements as there are of {self.each}."
            holds = f"{self.length_expr} == len(({self.each}))"
            yield self.requirement("length", text, holds, *keys, *self.keys_in(self.each))
        elif self.is_attribute:
            values = f"[{name}]"
        else:
            yield from Role.requirements(self)
            yield self.form_requirement()
            keys.append("shape")
        if self.range is not None:
            least, most = self.range
            text = f"{name} is from {least} to {most}."
            holds = f"all(({least}) <= value <= ({most}) for value in {values})"
            yield self.requirement("range", text, holds, *keys, *self.keys_in(f"{least} {most}"))


class RealRole(Role):
    """A real number, an attribute of type `float`; most are at least another one (`at_least`).

    It has at most the 24 significant bits of f32: documents do not say in which type a runtime
    keeps it.
    """

    relations: ClassVar = {"at_least": ("real",)}

    role: Literal["real"]
    type: Literal["float"] = "float"
    at_least: str | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a number that may be omitted without a default."""
        if not self.required and self.default is None:
            yield "required", "missing default of a number that may be omitted; expected a number"

    def draw(self, call: Drawing) -> float | None:
        """Return the number, None if it is omitted."""
        if not call.fact(self.draw_given):
            return None
        number = self._draw_number(call)
        if self.at_least is None:
            return number
        least = call.fact(self.related(self.at_least, RealRole).draw) or 0.0
        ways = {"above": least + abs(number)}
        rare = {"equal": least, "below": least - abs(number)}
        return nearest(call.one(self, "place", ways, rare), "f32")

    def _draw_number(self, call: Drawing) -> float:
        mantissa = call.integer(self, "mantissa", -(1 << 24), 1 << 24)
        few = call.integer(self, "few", -9, 9)
        kinds = {"whole": float(few), "in halves": few + 0.5, "dense": mantissa * 2.0**-21}
        rare = {"zero": 0.0, "large": mantissa * 2.0**40, "small": mantissa * 2.0**-60}
        return call.one(self, "kind", kinds, rare)
