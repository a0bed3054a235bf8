"""The role `mode`: one of several words."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from opcert.arrays.calls import Call
from opcert.errors import did_you_mean
from opcert.roles.factors import BuildContext, Factor, ObservationPoint, ObservedLevels, Requirement
from opcert.roles.role import OMITTED, Role


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

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield its words, the default first, and its omission."""
        levels = sorted(self.one_of, key=lambda word: word != self.default)
        words = {word: f"{self.name} {word}" for word in levels}
        if not self.required:
            levels.insert(1, OMITTED)
            words[OMITTED] = f"{self.name} omitted"
        yield Factor.of_names(self.factor("word"), levels, words)

    def build(self, context: BuildContext) -> Any:
        """Return the word, None if it is omitted."""
        word = context.choice[self.factor("word")]
        return None if word == OMITTED else word

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the word."""
        return ObservedLevels({self.factor("word"): call.attributes.get(self.name, OMITTED)})

    def meant(self, word: object) -> object:
        """Return the word that an observed or chosen one means: the default if it is omitted."""
        return self.default if word in (None, OMITTED) else word

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
        yield Requirement(self.word_requirement, text, f"{self.name} in {[*words]}")

    def selection_mistakes(self, role: Role, word: str | None) -> Iterator[tuple[str, str]]:
        """Report mistakes of an argument that is given only if the mode is `word`."""
        if word is None:
            yield "mode", f"missing key 'mode_is'; expected {' or '.join(self.one_of)}"
        elif word not in self.one_of:
            near = did_you_mean(word, [*self.one_of])
            yield "mode_is", f"unknown word '{word}' of '{self.name}'{near}"
        elif role.required:
            text = f"required in every mode, but given only if '{self.name}' is {word}"
            yield "mode", f"{text}; expected 'required: false'"
