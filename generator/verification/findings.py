"""What is wrong with a certificate or with its folder: one line each, with its place."""

from dataclasses import dataclass

from opcert.errors import printable_line


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: where, and what was found and expected."""

    place: str
    text: str

    def __str__(self) -> str:
        return printable_line(f"{self.place}: {self.text}")
