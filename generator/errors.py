"""What can be wrong with a call of opcert, a spec or a suite: one message each, well worded."""

from collections.abc import Hashable
from dataclasses import dataclass
from difflib import get_close_matches


class OpcertError(Exception):
    """Something that the user can mend; its text says what was found, expected, and where."""


class ExpressionError(OpcertError):
    """An expression that does not parse, names something unknown or cannot be evaluated.

    `place` is the path to it in the spec, where that is known.
    """

    def __init__(self, text: str, place: tuple[Hashable, ...] = ()) -> None:
        super().__init__(text)
        self.place = place


class Inapplicable(Exception):
    """A change that a call does not admit, such as a value past its type; try another call."""


class SuiteError(OpcertError):
    """A suite that is damaged, incomplete, of another version or in the way."""


class BackendError(OpcertError):
    """A backend that cannot be found, loaded or made."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a spec, a claim or waivers: where it is and what is wrong."""

    file: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.text}"


class SpecError(OpcertError):
    """A spec, a claim or waivers with mistakes, every one of which is listed."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = sorted(set(mistakes))
        super().__init__("\n".join(map(str, self.mistakes)))


def did_you_mean(found: str, known: list[str]) -> str:
    """Return "; did you mean 'x'?" for the known name nearest to `found`, else what is known."""
    near = get_close_matches(found, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; expected one of {', '.join(known)}" if known else ""


def safe_repr(value: object) -> str:
    """Return the beginning of how Python writes a value, whatever that does, or its type."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"a value of the type {type(value).__name__}"


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an exception, whatever its text does."""
    try:
        text = str(error)
    except Exception:
        text = "(its text cannot be had)"
    return f"{type(error).__name__}: {text}"[:500].encode(errors="replace").decode()


def printable_line(text: str) -> str:
    """Return what a stranger wrote without what a terminal obeys; its spaces stay as they are."""
    first, *rest = text.expandtabs(1).splitlines() or [""]
    line = " ".join(filter(None, [first.rstrip(), *map(str.strip, rest)]))
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
