"""The mutants that no call distinguishes from the reference, each with the reason."""

from dataclasses import dataclass
from pathlib import Path

import yaml

LISTED = Path(__file__).parent / "equivalent.yaml"


@dataclass(frozen=True)
class Equivalent:
    """A mutant, named as `Mutant.identity` does, and why it computes the same."""

    module: str
    mutation: str
    line: str
    becomes: str
    why: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What names the mutant."""
        return self.module, self.mutation, self.line, self.becomes

    def __str__(self) -> str:
        return f"{self.module}, {self.mutation}\n  - {self.line}\n  + {self.becomes}"


def equivalents() -> list[Equivalent]:
    """Return the listed mutants."""
    return [Equivalent(**each) for each in yaml.safe_load(LISTED.read_text(encoding="utf-8"))]
