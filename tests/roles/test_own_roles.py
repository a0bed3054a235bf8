"""A role of one's own: a class that the spec names."""

from pathlib import Path

import numpy as np
import pytest

from opcert.certificate.certify_suite import certify
from opcert.errors import SpecError
from opcert.specification.files import read_spec
from opcert.suite.generation import generate
from tests.roles.made_up import Backend, write_spec

pytestmark = pytest.mark.usefixtures("few_calls")

ROLE = '''
from typing import ClassVar, Literal

from opcert.roles import DataRole, Requirement, Role


class Rows(Role):
    """How many of the first rows of data are kept."""

    relations: ClassVar = {"of": ("data",)}
    role: Literal["rows"]
    of: str

    def bounds(self):
        return ("0", f"{self.of}.shape[0]")

    def draw(self, call):
        rows, *_ = call.fact(self.related(self.of, DataRole).draw_shape)
        return call.one(self, "count", {"half": rows // 2, "all": rows})

    def requirements(self):
        holds = f"0 <= {self.name} <= {self.of}.shape[0]"
        yield Requirement(f"{self.name}.range", "There are so many rows.", holds)
'''
SPEC = """
operator: made/Head
slug: head
version: 1
document: {title: Head, version: "1"}
reference: head.py:head
types: {T: [f32, i8, u16]}
roles: {rows: rows.py:Rows}
inputs:
  - {name: data, role: data, type: T, rank: [1, 3], text: The rows.}
attributes:
  - {name: count, role: rows, of: data, type: int, text: How many rows.}
outputs:
  - {name: head, type: T, shape: "[count, *data.shape[1:]]", element: "data[at]", text: The rows.}
rules:
  - {id: needed, from: required, clause: Signature}
  - {id: count-range, from: count.range, clause: Attributes}
  - {id: first, clause: Description, text: The first rows are kept.}
"""
REFERENCE = """
from opcert.reference import RuleBroken


def head(data=None, count=None):
    if data is None or count is None:
        raise RuleBroken("head/needed", "an argument is omitted")
    if not 0 <= count <= data.shape[0]:
        raise RuleBroken("head/count-range", f"count {count}")
    return [data[:count].copy()]
"""


def last(data: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the last rows instead."""
    if not 0 <= count <= data.shape[0]:
        raise ValueError(count)
    return [data[::-1][:count].copy()]


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = write_spec(tmp_path / "specs", "head", SPEC, REFERENCE).parent
    (folder / "rows.py").write_text(ROLE)
    return folder


def test_a_role_of_the_specs_folder_gives_a_suite_that_fails_a_wrong_backend(
    specs: Path, tmp_path: Path
) -> None:
    suite = tmp_path / "suite"
    generate(suite, specs)
    assert certify("reference", suite, isolated=False, specs=specs).conformant
    assert not certify(Backend(last), suite, isolated=False, specs=specs).conformant


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ("rows.py:Row", "rows.py has no class 'Row'"),
        ("head.py:head", "'head.py:head' is not a subclass of opcert.roles.Role"),
        ("row.py:Rows", "cannot be imported"),
    ],
)
def test_a_wrong_class_is_reported_at_its_place(specs: Path, named: str, text: str) -> None:
    path = specs / "head.yaml"
    path.write_text(SPEC.replace("rows.py:Rows", named))
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    (mistake,) = caught.value.mistakes
    assert text in mistake.text
    assert mistake.line == 8


@pytest.mark.parametrize(
    ("role", "known"),
    [
        ("date", r"unknown role 'date'; did you mean 'data'\?"),
        ("all_but_that", r"unknown role 'all_but_that'; expected one of .*data.*rows"),
    ],
)
def test_an_unknown_role_is_reported_with_the_known_ones(
    specs: Path, role: str, known: str
) -> None:
    path = specs / "head.yaml"
    path.write_text(SPEC.replace("role: data", f"role: {role}"))
    with pytest.raises(SpecError, match=known):
        read_spec(path)
