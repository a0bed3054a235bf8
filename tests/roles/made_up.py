"""Made-up operators to try roles with: written, read, drawn, certified."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from opcert import certify, generate
from opcert.arrays.calls import Call
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import MAX_OUTPUT_ELEMENTS, draw_call, drawn_calls
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import make_vectors
from opcert.choices import RARELY, Choices, call_seed
from opcert.errors import Inapplicable, SpecError
from opcert.roles.role import OMITTED
from opcert.specification.files import read_spec
from opcert.specification.model import Spec
from opcert.suite import generation, spec_check
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
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
# Each has a spec without its head, a reference, edits that make that wrong, and what is required.
MADE_UP: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "operators").glob("*.yaml"))
}
SPECS: dict[str, str] = {name: operator["spec"] for name, operator in MADE_UP.items()}


def write_spec(folder: Path, name: str, spec: str, reference: str) -> Path:
    """Write a spec and its reference; return the path of the spec."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(reference, encoding="utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(spec, encoding="utf-8")
    return path


def read(folder: Path, spec: str) -> Spec:
    """Read a spec of the operator Up, without its head."""
    return read_spec(write_spec(folder, "up", HEAD + spec, ANY)).spec


def mistakes(folder: Path, spec: str, old: str, new: str) -> list[str]:
    """Return the mistakes in a spec with `new` instead of `old`: rest of the line, text."""
    assert spec.count(old) == 1, old
    with pytest.raises(SpecError) as caught:
        read(folder, spec.replace(old, new))
    lines = (HEAD + spec.replace(old, new)).splitlines()
    return [f"{lines[m.line - 1][m.column - 1 :]}: {m.text}" for m in caught.value.mistakes]


def random_calls(spec: Spec, count: int = 120) -> list[Call]:
    """Return valid calls that are drawn at random."""
    return [call for _, call, _ in islice(drawn_calls(spec, 0), count)]


# An option that is expected to be taken so often, and never is, cannot be taken.
OFTEN = 8


class Recorder(Choices):
    """Counts how often to expect each option of each choice; no range of integers is empty.

    Hypothesis cannot draw from an empty one.
    """

    def __init__(self, seed: int, expected: defaultdict[tuple[str, str], float]) -> None:
        super().__init__(seed)
        self._expected = expected

    def _level(self, name: str, common: Collection[str], rare: Collection[str]) -> str:
        share = 1 / RARELY if common else 1
        for level in rare:
            self._expected[name, level] += share / len(rare)
        for level in common:
            self._expected[name, level] += (1 - share * bool(rare)) / len(common)
        return super()._level(name, common, rare)

    def integer(self, name: str, low: int, high: int) -> int:
        assert low <= high, name
        return super().integer(name, low, high)

    def integers(self, name: str, low: int, high: int, count: int) -> list[int]:
        assert low <= high, name
        return super().integers(name, low, high, count)


def checked_calls(spec: Spec, draws: int) -> list[Call]:
    """Return the valid calls of some draws, which have their levels, and of which each option."""
    conditions = Conditions(spec)
    expected: defaultdict[tuple[str, str], float] = defaultdict(float)
    taken: set[tuple[str, str]] = set()
    valid: list[Call] = []
    for number in range(draws):
        choices = Recorder(call_seed(spec.operator, number), expected)
        try:
            call = draw_call(spec, choices)
        except Inapplicable:
            continue
        if not conditions.check(call).violated and conditions.has_small_outputs(
            call, MAX_OUTPUT_ELEMENTS
        ):
            valid.append(call)
            taken |= choices.levels.items()
            check_levels(spec, call, choices.levels)
    missing = {option for option, count in expected.items() if count > OFTEN} - taken
    # Outputs whose size follows from elements are often too large.
    is_sized = any(getattr(role, "read", False) for role in spec.bound_roles)
    assert is_sized or not missing, missing
    return valid


def check_levels(spec: Spec, call: Call, levels: dict[str, str]) -> None:
    """Assert that levels of types, ranks, layouts and omission are true of a call."""
    for role in spec.bound_roles:
        tensor = call.inputs.get(role.name)
        if tensor is not None:
            true = {"type": tensor.type, "rank": str(tensor.rank)}
            offset = levels.get(f"{role.name} layout offset")
            if tensor.size and offset != "any":
                true["layout offset"] = str(tensor.layout.offset)
            for aspect, expected in true.items():
                assert levels.get(f"{role.name} {aspect}", expected) == expected
        is_omitted = role.name not in call.arguments and not role.can_be_variadic
        for aspect in ("given", "sign", "word", "order"):
            if levels.get(f"{role.name} {aspect}") == OMITTED:
                assert is_omitted


def requirements_of(spec: Spec) -> dict[str, list[Any]]:
    """Return the condition of each requirement, its prerequisites, and when it applies."""
    return {
        rule.id: [rule.holds, [*rule.prerequisites], rule.when]
        for rule in spec.requirements.values()
    }


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


def assert_certified(folder: Path, spec: str, reference: str, most_lines: int = 25) -> Path:
    """Assert that `check` accepts a short spec, and that the reference passes; return the suite."""
    path = write_spec(folder, "up", HEAD + spec, reference)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most_lines
    return certified_suite(path)


def certified_suite(path: Path) -> Path:
    """Assert that `check` accepts the one spec of a folder, and that the reference passes."""
    suite = path.parent / "suite"
    with pytest.MonkeyPatch.context() as patched:
        # The cases and vectors are those of the same spec, and take long.
        cases = cache(lambda: generate_cases(read_spec(path), "core", 0))
        vectors = cache(lambda: make_vectors(read_spec(path), cases()))
        for module in (spec_check, generation):
            patched.setattr(module, "generate_cases", lambda *_, **__: cases())
        patched.setattr(spec_check, "make_vectors", lambda *_: vectors())
        patched.setattr(generation, "iterate_vectors", lambda *_: iter(vectors()))
        checked = opcert("check", "--no-strength", path)
        assert checked.exit_code == 0, checked.output
        generate(suite, specs=path.parent)
    certificate = certify("reference", suite, specs=path.parent)
    assert certificate.conformant
    assert certificate.grade == "bit-exact"
    return suite


def assert_fails(suite: Path, reference: str, old: str, new: str, name: str = "up") -> None:
    """Assert that a reference with `new` instead of `old` fails a suite; `name` is its function."""
    assert reference.count(old) == 1, old
    names: dict[str, Any] = {}
    exec(reference.replace(old, new), names)  # noqa: S102 -- the text of a test
    run, cases = Certification(Backend(names[name]), _opened(suite)), _opened(suite).cases
    assert any(run.verdict(case).status == "fail" for case in cases)


@cache
def _opened(suite: Path) -> Suite:
    return Suite(suite, suite.parent)
