"""A case, its change, and the mistakes that cases reveal in a spec."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar

from pydantic import ConfigDict

from opcert.arrays.calls import Call
from opcert.cases.list_mutations import AT_A_BOUND
from opcert.choices import Choices
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.specification.files import SpecFile
from opcert.specification.model import Example
from opcert.yaml_files import YamlPath


@dataclass(frozen=True)
class Change:
    """The one change in which a call differs from its baseline.

    `kind` names the mutation, the violation of the spec, or the respect in which neighbours differ.
    Only a mutation has an `argument`, and a `position` if it changes one of several elements.
    """

    # Read by pydantic when it parses an index.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    kind: str
    argument: str = ""
    position: str = ""

    @property
    def name(self) -> str:
        """The words that name it in the id of a case."""
        return "-".join(part for part in (self.argument, self.position, self.kind) if part)

    @property
    def stratum(self) -> tuple[str, str]:
        """The argument and the kind, by which cases are selected; for a bound, each position."""
        return self.argument, self.name if self.kind in AT_A_BOUND else self.kind


@dataclass(frozen=True)
class Case:
    """One call and what it expects.

    A positive case is a valid call. A negative case violates `violated_rule` and differs in one
    `change` from a valid call, its `baseline`; `extra_behaviours` are those that it exhibits and
    its baseline does not. A neighbour is a valid call with a `baseline`. A case with an
    `ambiguity` expects what the reference does, and never decides a certificate.

    `place` is the path in the spec at which a mistake in the case is reported. `rules` are the full
    ids of the rules that the case exercises. `choices` drew its call, unless the document has it.
    """

    id: str
    call: Call
    place: YamlPath
    rules: tuple[str, ...]
    violated_rule: str | None = None
    baseline: str | None = None
    change: Change | None = None
    extra_behaviours: tuple[str, ...] = ()
    ambiguity: str | None = None
    feature_levels: tuple[str, ...] = ()
    example: Example | None = None
    choices: Choices | None = field(default=None, compare=False, repr=False)


def short_digest(text: str) -> str:
    """Return eight hexadecimal digits, for unique ids and for a reproducible random order."""
    return sha256(text.encode()).hexdigest()[:8]


class MistakeLog:
    """The mistakes that cases reveal in one spec: the first one at each place."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._mistakes: dict[YamlPath, Mistake] = {}

    def __contains__(self, place: YamlPath) -> bool:
        return place in self._mistakes

    def add(self, place: YamlPath, text: str) -> None:
        """Record a mistake, unless there is one at its place already."""
        self._mistakes.setdefault(place, self._file.mistake(place, text))

    @contextmanager
    def collect(self, place: YamlPath, context: str = "") -> Iterator[None]:
        """Record an error of an expression in the block, and continue after the block."""
        try:
            yield
        except (ExpressionError, Inapplicable) as error:
            self.add(getattr(error, "place", ()) or place, f"{error}{context}")

    def raise_if_any(self) -> None:
        """Raise the recorded mistakes.

        Raises:
            SpecError: there are some.
        """
        if self._mistakes:
            raise SpecError([*self._mistakes.values()])
