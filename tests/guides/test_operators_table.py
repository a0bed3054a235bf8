"""The table of the operators beyond the core suite has what follows from their specs."""

import pytest

from tests.operators.table import FAILURES, SPECS_GUIDE, UNKNOWN, facts, operators, rows_of

MOST_LINES = 150


def test_the_table_has_every_operator() -> None:
    assert list(rows_of(SPECS_GUIDE)) == operators()
    assert set(FAILURES) <= set(operators())


@pytest.mark.parametrize("operator", operators())
def test_the_cells_that_follow_from_a_spec_are_up_to_date(operator: str) -> None:
    row = rows_of(SPECS_GUIDE)[operator]
    assert row[1:3] == facts(operator)
    assert int(row[1]) <= MOST_LINES
    assert row[6] == FAILURES.get(operator, UNKNOWN)


@pytest.mark.parametrize("operator", operators())
def test_the_cells_that_are_measured_are_numbers(operator: str) -> None:
    _, _, _, cases, found, share, _ = rows_of(SPECS_GUIDE)[operator]
    detected, _, applicable = found.partition(" of ")
    assert int(cases) > 0
    assert 0 < int(detected) <= int(applicable)
    least, _, most = share.removesuffix(" %").partition(" to ")
    assert 0 < float(least) < float(most) <= 100
