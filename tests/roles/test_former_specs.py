"""The former specs, with factors written out, count the shipped suite: roles cover no less."""

from pathlib import Path

import pytest

from opcert.generator.specification.files import read_spec
from opcert.generator.suite.coverage import Coverage, coverage_of
from opcert.generator.suite.suite import Suite

FORMER = Path(__file__).parent.parent / "former_specs"
SPECS = {spec.spec.operator: spec for spec in map(read_spec, sorted(FORMER.rglob("*.yaml")))}
# Levels that roles replace by another one.
REPLACED = {"n=five": "an axis of 6, which has divisors", "count=five": "six parts, for that axis"}


@pytest.fixture(scope="module")
def counted() -> dict[str, Coverage]:
    """Return what the former specs count in the shipped suite, by operator."""
    return {coverage.operator: coverage for coverage in coverage_of(Suite(), SPECS)}


@pytest.mark.parametrize("operator", SPECS)
def test_the_former_levels_and_their_pairs_are_covered(
    operator: str, counted: dict[str, Coverage]
) -> None:
    for covered in counted[operator].covered:
        missing = [name for name in covered.missing if REPLACED.keys().isdisjoint(name.split(" "))]
        assert missing == [], covered.dimension
