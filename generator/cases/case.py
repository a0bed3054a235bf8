"""A case: one call of an operator, what it expects, and where in the spec it comes from."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from opcert.arrays import Call
from opcert.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.specification import Example, SpecFile
from opcert.yaml_files import YamlPath


@dataclass(frozen=True)
class Case:
    """One call, and what it expects.

    `place` is the part of the spec that it comes from. `violated_rule` is the rule that the call breaks,
    with `baseline` the valid case it is one change away from and `extra_behaviours` the behaviours that only the
    changed call would show; without it the call is valid. `rules`
    are those it exercises, `levels` the level of each factor. A case with an `ambiguity` expects
    what the reference does, and never decides a certificate.
    """

    id: str
    call: Call
    place: YamlPath
    rules: tuple[str, ...]
    levels: Mapping[str, str] = field(default_factory=dict)
    violated_rule: str | None = None
    baseline: str | None = None
    extra_behaviours: tuple[str, ...] = ()
    ambiguity: str | None = None
    feature_levels: tuple[str, ...] = ()
    example: Example | None = None


def short_digest(text: str) -> str:
    """Return the eight hexadecimal digits that tell ids apart."""
    return sha256(text.encode()).hexdigest()[:8]


class MistakeLog:
    """What goes wrong in the draws of one spec: the first mistake of each place."""

    def __init__(self, spec_file: SpecFile) -> None:
        self._file = spec_file
        self._found: dict[YamlPath, Mistake] = {}

    def __contains__(self, place: YamlPath) -> bool:
        return place in self._found

    def note(self, place: YamlPath, text: str) -> None:
        """Keep a mistake, unless its place has one."""
        self._found.setdefault(place, self._file.mistake(place, text))

    @contextmanager
    def noting(self, place: YamlPath, context: str = "") -> Iterator[None]:
        """Keep what goes wrong inside as a mistake of the spec, and go on behind it."""
        try:
            yield
        except (ExpressionError, Inapplicable) as error:
            self.note(getattr(error, "place", ()) or place, f"{error}{context}")

    def stop(self) -> None:
        """End here if there are any.

        Raises:
            SpecError: with all of them.
        """
        if self._found:
            raise SpecError([*self._found.values()])
