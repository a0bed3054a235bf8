"""Made-up specs with roles: what they require, and whether their calls show their levels."""

from pathlib import Path
from random import Random

from opcert.cases import InputSpace, Observer
from opcert.combinatorics import RowSampler
from opcert.specification import Rule, SpecFile, read_spec

ROWS = 150
# Extents are drawn, and not every draw has the kind that is sought.
DRAWS = 12


def written(folder: Path, name: str, spec: str, reference: str) -> Path:
    """Write a spec and its reference; return the path of the spec."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(reference)
    path = folder / f"{name}.yaml"
    path.write_text(spec)
    return path


def rules(path: Path) -> dict[str, Rule]:
    """Return the requirements that a spec derives from roles, by what they derive from."""
    return {rule.derived: rule for rule in read_spec(path).spec.rules if rule.derived is not None}


def hidden_levels(file: SpecFile, profile: str) -> list[list[str]]:
    """Return for random rows which levels show in no call that is built for them."""
    space, observer = InputSpace(file.spec, profile), Observer(file.spec, profile)
    rows, random = RowSampler(space.choices()[0]), Random(profile)
    hidden = []
    for _ in range(ROWS):
        row = rows.read(random.randrange)
        levels = space.level_names(row)
        draws = (space.call(row, f"{row}|{draw}") for draw in range(DRAWS))
        unobserved = min((observer.unobserved(call, levels) for call in draws), key=len)
        if unobserved:
            hidden.append(unobserved)
    return hidden
