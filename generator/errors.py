"""The exceptions that opcert raises, and the words that their messages share."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class OpcertError(Exception):
    """An error that the user can correct; its text states what was found, expected, and where."""


class ExpressionError(OpcertError):
    """An expression that does not parse, uses an unknown name, or cannot be evaluated.

    `place` is the path to it in the spec, empty where it is not known.
    """

    def __init__(self, text: str, place: tuple[Hashable, ...] = ()) -> None:
        super().__init__(text)
        self.place = place


class Inapplicable(Exception):
    """A change that a call does not admit, such as a value that does not fit its type."""


class Undecided(Exception):
    """A computed element that the document, or the arithmetic of a backend, leaves open."""


class SuiteError(OpcertError):
    """A suite that is damaged, incomplete, of another version or in the way."""


class BackendError(OpcertError):
    """A backend that cannot be found, loaded or created."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a YAML file, with its place; line and column count from 1."""

    file: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.text}"


class SpecError(OpcertError):
    """A spec, a claim or waivers with mistakes; lists all of them."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = sorted(set(mistakes))
        super().__init__("\n".join(map(str, self.mistakes)))

    def __reduce__(self) -> tuple[type["SpecError"], tuple[list[Mistake]]]:
        """Return what pickle makes it of in another process: not the text, but the mistakes."""
        return type(self), (self.mistakes,)


# How many characters of an expression or a value a message quotes.
MAX_QUOTED = 100


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """Return words as a list within a sentence."""
    return f" {conjunction} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def abbreviate(value: object) -> str:
    """Return `value` for a message: on one line, up to a hundred characters."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    text = " ".join(text.split())
    text = text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 3]}..."
    return f"'{text}'" if isinstance(value, str) else text


def did_you_mean(name: str, known: list[str]) -> str:
    """Return a hint to append to a message: the known name closest to `name`, or all of them.

    `name` may be a glob, such as `*/Slice8`, or lack the part before the slash.
    """
    by_text = {text.casefold(): text for text in known}
    by_last_part = {text.rpartition("/")[2]: known for text, known in by_text.items()}
    searched = name.casefold().replace("*", "")
    for names, text in ((by_text, searched), (by_last_part, searched.rpartition("/")[2])):
        matches = get_close_matches(text, names, n=1, cutoff=0.6)
        if matches:
            return f"; did you mean '{names[matches[0]]}'?"
    return f"; expected one of {', '.join(known)}" if known else ""


def class_name(value: object) -> str:
    """Return the name of a value's type, whatever its metaclass makes of `__name__`."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name


def safe_repr(value: object) -> str:
    """Return the beginning of `repr(value)`, or its type where `repr` fails."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"a value of the type {class_name(value)}"


def describe_error(error: BaseException) -> str:
    """Return the type and the text of an exception, even if its `__str__` fails or exits."""
    try:
        # The text may be of a subclass of str, with methods of its own.
        text = str.__str__(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = "(its text cannot be read)"
    return f"{class_name(error)}: {text}"[:500].encode(errors="replace").decode()


# Control characters but tabs and line feeds, surrogates, noncharacters, marks of direction, and
# other characters without a glyph: XML and HTML forbid some, and others reorder a line.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(1 << 16, 17 << 16, 1 << 16)
    )
    + "]"
)


def visible_text(text: str, before: str = "") -> str:
    """Return `text` with hidden characters as escapes of Python, each after `before`."""
    # Most texts have none. Some have megabytes, through which the pattern is slow.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _HIDDEN.sub(lambda match: before + ascii(match[0])[1:-1], text)


def printable_line(text: str) -> str:
    """Return `text` on one line, with control characters escaped; inner spaces are kept."""
    first, *rest = text.expandtabs(1).splitlines() or [""]
    line = " ".join(filter(None, [first.rstrip(), *map(str.strip, rest)]))
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
