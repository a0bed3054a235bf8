"""The specs that come with opcert, the core ones among them; the cases and vectors of one.

Cases and vectors of one operator at a time are kept, for they are large.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from opcert.cases.case import Case
from opcert.cases.generation import generate_cases
from opcert.cases.vectors import Vector, iterate_vectors, make_vectors
from opcert.settings import PROFILES
from opcert.specification import files
from opcert.specification.files import SpecFile, find_spec_files
from opcert.specs import CORE_OPERATORS
from opcert.suite.emit import operator_files, suite_files
from opcert.suite.generation import iterate_files
from opcert.suite.suite import Suite
from opcert.suite.writing import write_suite
from tests.faults.finding import core_suite
from tests.short_suite import CORE_PROFILE

SPECS = {path.stem: path for path in find_spec_files(None)}
# Those whose suites are committed.
CORE = [name.partition("/")[2] for name in CORE_OPERATORS]
# The smallest, by id and file.
QUICK = ("directml/DML_OPERATOR_SPLIT", "DML_OPERATOR_SPLIT")

# All the tests of a module with one spec run before those with the next.
each_spec = pytest.mark.parametrize("name", SPECS, scope="module")
each_core_spec = pytest.mark.parametrize("name", CORE, scope="module")


def at_length(arguments: str, rows: Iterable[tuple[Any, ...]]) -> pytest.MarkDecorator:
    """Try operators, by id or file, each first in its row; all but the smallest are slow.

    It is for tests that take long with an operator: most of them generate its suite.
    """
    marked = [pytest.param(*row, marks=() if row[0] in QUICK else pytest.mark.slow) for row in rows]
    return pytest.mark.parametrize(arguments, marked, scope="module")


each_spec_at_length = at_length("name", zip(SPECS))
# Those that only move elements: others have fewer calls, and values instead of patterns.
MOVING = [
    name
    for name, path in SPECS.items()
    if "computed: true" not in path.read_text("utf-8") and name != "Select-1"
]
each_moving_spec_at_length = at_length("name", zip(MOVING))


@cache
def spec(name: str) -> SpecFile:
    """Return the spec of an operator, named as its file."""
    return files.read_spec(SPECS[name])


_FOLDER = TemporaryDirectory(prefix="opcert-suites-")


@cache
def suite(operator: str) -> Suite:
    """Return a suite with 500 drawn calls of an operator, named by its id."""
    if operator in CORE_OPERATORS:
        return core_suite()
    name = operator.partition("/")[2]
    folder = Path(_FOLDER.name) / name
    part = operator_files(spec(name), iterate_vectors(spec(name), cases(name)))
    write_suite(folder, suite_files("smoke", 0, [part]))
    return Suite(folder)


@lru_cache(maxsize=1)
def core_suite_of(operator: str) -> Suite:
    """Return the core suite of an operator as opcert generates it, with all calls."""
    with patch.dict(PROFILES, core=CORE_PROFILE):
        files_of_it = dict(iterate_files([spec(operator.partition("/")[2])]))
    return Suite(Path("core"), files=files_of_it)


@lru_cache(maxsize=1)
def cases(name: str) -> tuple[Case, ...]:
    """Return the cases of its smoke suite."""
    vectors.cache_clear()  # those of another spec
    return tuple(generate_cases(spec(name), "smoke", 0))


@lru_cache(maxsize=1)
def vectors(name: str) -> tuple[Vector, ...]:
    """Return the vectors of its smoke suite."""
    return tuple(make_vectors(spec(name), cases(name)))
