"""Made-up operators of a few lines, each to try a role with: written, read, drawn, certified."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert import certify, generate
from opcert.arrays import Call
from opcert.cases import InputSpace, Observer
from opcert.errors import SpecError
from opcert.specification import Spec, read_spec
from tests.command_line import opcert

HEAD = """\
operator: made/Up-1
slug: up-1
version: 1
document: {title: Up, version: "1"}
reference: up.py:up
"""
# The reference of a spec that is only read and drawn.
ANY = "def up(**arguments):\n    return []\n"
# How often a row is drawn until its levels show.
DRAWS = 32
_LINES = 25


def write(folder: Path, spec: str, reference: str = ANY) -> Path:
    """Write a spec, all but its head, with its reference into `folder`."""
    (folder / "up.py").write_text(reference, encoding="utf-8")
    path = folder / "Up-1.yaml"
    path.write_text(HEAD + spec, encoding="utf-8")
    return path


def read(folder: Path, spec: str) -> Spec:
    """Read what `write` writes."""
    return read_spec(write(folder, spec)).spec


def mistakes(folder: Path, spec: str, old: str, new: str) -> list[str]:
    """Return what is wrong with a spec that has `new` in the place of `old`: key's line, text."""
    assert spec.count(old) == 1, old
    with pytest.raises(SpecError) as caught:
        read(folder, spec.replace(old, new))
    lines = (HEAD + spec.replace(old, new)).splitlines()
    return [f"{lines[m.line - 1][m.column - 1 :]}: {m.text}" for m in caught.value.mistakes]


def assert_observed(spec: Spec, profile: str = "core", rows: int = 60) -> list[Call]:
    """Assert that calls which are drawn for levels exhibit them; return the calls."""
    space, observer = InputSpace(spec, profile), Observer(spec, profile)
    calls = []
    for row in Random(0).choices(space.rows(2), k=rows):
        levels = space.level_names(row)
        drawn = (space.call(row, f"up-1|{attempt}") for attempt in range(DRAWS))
        showing = next((call for call in drawn if not observer.unobserved(call, levels)), None)
        assert showing is not None, levels
        calls.append(showing)
    return calls


def holds(spec: Spec) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """Return the condition and the prerequisites of each requirement."""
    return {rule.id: (rule.holds, rule.prerequisites) for rule in spec.requirements.values()}


class Backend:
    """A backend whose one operator is a function."""

    name = "made-up"
    version = "1"

    def __init__(self, function: Callable[..., Sequence[Any]]) -> None:
        self._function = function

    def run(
        self, _: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> list[np.ndarray]:
        """Call the function."""
        return [*self._function(**inputs, **attributes)]


def assert_certified(folder: Path, spec: str, reference: str) -> Path:
    """Assert that `check` accepts a spec of few lines, and its suite the reference; return it."""
    path = write(folder, spec, reference)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= _LINES
    checked = opcert("check", "--no-strength", path)
    assert checked.exit_code == 0, checked.output
    suite = folder / "suite"
    generate(suite, specs=folder)
    certificate = certify("reference", suite, specs=folder)
    assert certificate.conformant
    assert certificate.grade == "bit-exact"
    return suite


def assert_fails(suite: Path, reference: str, old: str, new: str) -> None:
    """Assert that a reference with `new` in the place of `old` fails a suite."""
    assert reference.count(old) == 1, old
    names: dict[str, Any] = {}
    exec(reference.replace(old, new), names)  # noqa: S102 -- the text of a test
    certificate = certify(Backend(names["up"]), suite, specs=suite.parent)
    assert not certificate.conformant
    assert any(verdict.status == "fail" for verdict in certificate.verdicts)
