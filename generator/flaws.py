"""What is wrong with a certificate or with its folder: one line each, with its place."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flaw:
    """Something that is wrong: where, and what was found and expected."""

    place: str
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.place}: {self.text}")


def one_line(text: str) -> str:
    """Return what a stranger wrote without what a terminal obeys; its spaces stay as they are."""
    first, *rest = text.expandtabs(1).splitlines() or [""]
    line = " ".join(filter(None, [first.rstrip(), *map(str.strip, rest)]))
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
