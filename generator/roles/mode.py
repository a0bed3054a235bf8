"""The role `mode`: one of several words."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from opcert.arrays import Call
from opcert.roles.factors import BuildContext, Factor, ObservationPoint, ObservedLevels, Requirement
from opcert.roles.role import OMITTED, Role


class ModeRole(Role):
    """One of several words, by which an operator works in one way or another.

    `one_of` lists the words. A mode that need not be given has a `default` among them. What else a
    word may be spelt like is for the document to say, and mostly left open.
    """

    role: Literal["mode"]
    type: Literal["string"] = "string"
    one_of: tuple[str, ...] = Field(min_length=1)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield where the word that an omitted mode stands for is none."""
        if not self.required and self.default not in self.one_of:
            words = " or ".join(f"'{word}'" for word in self.one_of)
            yield "required", f"expected a default for a mode that may be omitted: {words}"

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield its words, the default first, and that it is omitted."""
        levels = sorted(self.one_of, key=lambda word: word != self.default)
        words = {word: f"{self.name} {word}" for word in levels}
        if not self.required:
            levels.insert(1, OMITTED)
            words[OMITTED] = f"{self.name} omitted"
        yield Factor(self.factor("word"), {level: level for level in levels}, words=words)

    def build(self, scene: BuildContext) -> Any:
        """Return the word, or None where it is omitted."""
        word = scene.choice[self.factor("word")]
        return None if word == OMITTED else word

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Return the word."""
        return ObservedLevels({self.factor("word"): call.attributes.get(self.name, OMITTED)})

    @property
    def known(self) -> str:
        """The key of the requirement that it is one of its words."""
        return f"{self.name}.word"

    def is_one_of(self, words: Sequence[str]) -> str:
        """Return the condition that it is one of `words`."""
        return f"{self.name} == '{words[0]}'" if len(words) == 1 else f"{self.name} in {[*words]}"

    def requirements(self) -> Iterator[Requirement]:
        """Yield that it is one of its words."""
        words = self.one_of
        text = f"{self.name} is {' or '.join(words)}."
        yield Requirement(self.known, text, f"{self.name} in {[*words]}")
