"""The shipped specs by name, and the cases of each, drawn once for all the tests that ask."""

from functools import cache

import pytest

from opcert.generator.case import Case
from opcert.generator.cases import cases_of
from opcert.generator.spec_files import SpecFile, read_spec, spec_paths

SPECS = {path.stem: path for path in spec_paths(None)}
each_spec = pytest.mark.parametrize("name", SPECS)


@cache
def spec(name: str) -> SpecFile:
    """Return a spec, read."""
    return read_spec(SPECS[name])


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Return the cases of the core suite."""
    return tuple(cases_of(spec(name), "core", 0))
