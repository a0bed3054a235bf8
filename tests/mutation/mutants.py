"""The mutants of `reference/`: each is one module with one small, mechanical change.

`equivalent.yaml` lists those that no call distinguishes from the reference, each with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path

import yaml
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

REFERENCE = Path(__file__).parent.parent.parent / "reference"
MODULES = tuple(sorted(path.stem for path in REFERENCE.glob("*.py") if path.stem != "__init__"))
LISTED = Path(__file__).with_name("equivalent.yaml")


@dataclass(frozen=True)
class Change:
    """One changed module: the mutation, the line as it was and as it is."""

    module: str
    mutation: str
    line: str
    becomes: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What names it, whatever moves around its line."""
        return self.module, self.mutation, self.line, self.becomes

    def __str__(self) -> str:
        return f"{self.module}, {self.mutation}\n  - {self.line}\n  + {self.becomes}"


@dataclass(frozen=True)
class Mutant(Change):
    """A change with the whole source."""

    source: str


@dataclass(frozen=True)
class Equivalent(Change):
    """A listed change, and why the module computes the same."""

    why: str


def equivalents() -> list[Equivalent]:
    """Return the listed mutants."""
    return [Equivalent(**each) for each in yaml.safe_load(LISTED.read_text(encoding="utf-8"))]


def source_of(module: str) -> str:
    """Return the text of a module of the reference."""
    return (REFERENCE / f"{module}.py").read_text(encoding="utf-8")


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield the mutants of a module, each source once."""
    original = source_of(module)
    seen = {original}
    for mutation in mutations():
        operator = get_operator(mutation)()
        occurrence = 0
        while (source := mutate_code(original, operator, occurrence)) is not None:
            occurrence += 1
            if source not in seen:
                seen.add(source)
                yield Mutant(module, mutation.partition("/")[2], *_change(original, source), source)


def mutations() -> list[str]:
    """Return cosmic-ray's mutations that need no arguments and mean the same in every Python.

    Whether `is` distinguishes equal numbers and strings is an interpreter's choice.
    """
    identity = ("_Eq_Is", "_NotEq_Is", "_Lt_Is", "_LtE_Is", "_Gt_Is", "_GtE_Is")
    return [
        name
        for name in operator_names()
        if not get_operator(name).arguments() and not name.removesuffix("Not").endswith(identity)
    ]


def _change(original: str, mutated: str) -> tuple[str, str]:
    """Return the changed line before and after."""
    lines = list(ndiff(original.splitlines(), mutated.splitlines()))
    before, after = (
        " ".join(line[2:].strip() for line in lines if line[0] == sign) for sign in "-+"
    )
    return before.strip(), after.strip()
