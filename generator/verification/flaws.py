"""What is wrong with a certificate or with its folder: one line each, with its place."""

from dataclasses import dataclass

from opcert.errors import one_line


@dataclass(frozen=True)
class Flaw:
    """Something that is wrong: where, and what was found and expected."""

    place: str
    text: str

    def __str__(self) -> str:
        return one_line(f"{self.place}: {self.text}")
