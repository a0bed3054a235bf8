"""The specs that come with opcert, the core ones among them; the cases and vectors of one.

Cases and vectors of one operator at a time are kept, for they are large.
"""

from functools import cache, lru_cache

import pytest

from opcert.cases import Case, Vector, generate_cases, make_vectors
from opcert.specification import SpecFile, find_spec_files, read_spec
from opcert.specs import CORE_OPERATORS
from opcert.suite import Suite
from tests.faults.finding import core_suite
from tests.operators.planted import core_suite as generated_suite

SPECS = {path.stem: path for path in find_spec_files(None)}
# Those whose suites are committed.
CORE = [name.partition("/")[2] for name in CORE_OPERATORS]

# All the tests of a module with one spec run before those with the next.
each_spec = pytest.mark.parametrize("name", SPECS, scope="module")
each_core_spec = pytest.mark.parametrize("name", CORE, scope="module")


@cache
def spec(name: str) -> SpecFile:
    """Return the spec of an operator, named as its file."""
    return read_spec(SPECS[name])


@cache
def suite(operator: str) -> Suite:
    """Return a core suite that has an operator, named by its id."""
    return core_suite() if operator in CORE_OPERATORS else generated_suite(operator)


@lru_cache(maxsize=1)
def cases(name: str) -> tuple[Case, ...]:
    """Return the cases of its core suite."""
    vectors.cache_clear()  # those of another spec
    return tuple(generate_cases(spec(name), "core", 0))


@lru_cache(maxsize=1)
def vectors(name: str) -> tuple[Vector, ...]:
    """Return the vectors of its core suite."""
    return tuple(make_vectors(spec(name), cases(name)))
