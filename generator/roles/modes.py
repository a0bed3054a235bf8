"""The roles `flag` and `mode`: true or false, and a word, which select what an operator does."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from opcert.roles.drawing import Drawing
from opcert.roles.role import OMITTED, Requirement, Role


class FlagRole(Role):
    """True or false, which select one of two variants of the operator.

    A flag that is not required has a `default`.
    """

    role: Literal["flag"]
    type: Literal["boolean"] = "boolean"
    default: bool | None = None

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an optional flag without a default."""
        if not self.required and self.default is None:
            text = "missing default of a flag that may be omitted; expected true or false"
            yield "required", text

    def draw_meant(self, call: Drawing) -> bool:
        """Draw the value that the flag means: the default if it is omitted."""
        value = call.fact(self.draw)
        return bool(self.default if value is None else value)

    def draw(self, call: Drawing) -> bool | None:
        """Return the value, None if it is omitted."""
        values: dict[str, bool | None] = {"true": True, "false": False}
        if self.default is False:
            values = {"false": False, "true": True}
        if not self.required:
            values[OMITTED] = None
        return call.one(self, "value", values)


class ModeRole(Role):
    """One of several words that select a variant of the operator.

    `one_of` lists the words. A mode that is not required has a `default` among them. Whether other
    spellings are valid is not part of the role: most documents leave it open.
    """

    role: Literal["mode"]
    type: Literal["string"] = "string"
    one_of: tuple[str, ...] = Field(min_length=1)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report an optional mode without a default among its words."""
        if not self.required and self.default not in self.one_of:
            words = " or ".join(self.one_of)
            default = (
                "missing default" if self.default is None else f"unknown word '{self.default}'"
            )
            yield "required", f"{default} of a mode that may be omitted; expected {words}"

    def draw_meant(self, call: Drawing) -> object:
        """Draw the word that the mode means: the default if it is omitted."""
        word = call.fact(self.draw)
        return self.default if word is None else word

    def draw(self, call: Drawing) -> str | None:
        """Return the word, None if it is omitted."""
        words = sorted(self.one_of, key=lambda word: word != self.default)
        omitted = {} if self.required else {OMITTED: None}
        return call.one(self, "word", {**{word: word for word in words}, **omitted})

    @property
    def word_requirement(self) -> str:
        """The key of the requirement on its word."""
        return f"{self.name}.word"

    def is_one_of(self, words: Sequence[str]) -> str:
        """Return the condition that the mode is one of `words`."""
        return f"{self.name} == '{words[0]}'" if len(words) == 1 else f"{self.name} in {[*words]}"

    def requirements(self) -> Iterator[Requirement]:
        """Yield the requirement that the mode is one of its words."""
        words = self.one_of
        text = f"{self.name} is {' or '.join(words)}."
        yield self.requirement("word", text, f"{self.name} in {[*words]}")
