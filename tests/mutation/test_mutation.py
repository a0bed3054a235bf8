"""The mutation run: its verdict on a few mutants, its bounds, and its list of equivalent ones."""

import pytest

pytest.importorskip("cosmic_ray", reason="cosmic-ray of the extra 'mutation' is not installed")
pytest.importorskip("pebble", reason="pebble of the extra 'mutation' is not installed")

from tests.mutation.__main__ import Score, complaints, tried
from tests.mutation.mutants import Equivalent, Mutant, equivalents, source_of
from tests.mutation.trial import fate_of


def changed(module: str, line: str, becomes: str) -> Mutant:
    source = source_of(module)
    assert source.count(line) == 1
    return Mutant(module, "by hand", line, becomes, source.replace(line, becomes))


@pytest.mark.parametrize(
    ("module", "line", "becomes", "fate"),
    [
        ("slicing", "data.ndim >= 1", "data.ndim >= 2", "killed"),
        ("gathering", "and axis.size == 1", "and axis.size >= 1", "distinguished"),
        ("slicing", "data[tuple(region)].copy()", "data[tuple(region)]", "killed"),
        ("slicing", "data.ndim >= 1", "1 <= data.ndim", "survived"),
        ("slicing", "axes: Array | None", "axes: Array + None", "not importable"),
        ("slicing", "is_integer(axes)", "missing(axes)", "killed"),
        ("rules", "if not holds", "if holds", "killed"),
        ("variadic_split", "initial=0", "initial=1", "killed"),
    ],
)
def test_fates(module: str, line: str, becomes: str, fate: str) -> None:
    assert fate_of(changed(module, line, becomes)) == fate


@pytest.mark.slow
def test_loops_and_crashes_end_as_fates() -> None:
    loops = changed("slicing", "region = [slice", "while True: pass\n    region = [slice")
    crashes = changed(
        "slicing", "region = [slice", "__import__('os')._exit(3)\n    region = [slice"
    )
    score = tried([loops, crashes], jobs=1, seconds=60, deadline=5)
    assert set(score.fates.values()) == {"timed out", "crashed"}
    assert not list(complaints(score, []))


def test_survivors_and_the_list_have_to_agree() -> None:
    survivor = Mutant("slicing", "mutation", "line", "other line", "")
    listed = Equivalent(*survivor.identity, why="no call distinguishes it")
    assert not list(complaints(Score({survivor: "survived"}), [listed]))
    (text,) = complaints(Score({survivor: "survived"}), [])
    assert text.startswith("survived: slicing, mutation")
    (text,) = complaints(Score({survivor: "killed"}), [listed])
    assert text.startswith("listed as equivalent, but no survivor: slicing, mutation")


def test_every_listed_mutant_has_a_reason() -> None:
    listed = equivalents()
    assert all(each.why for each in listed)
    assert len({each.identity for each in listed}) == len(listed)
