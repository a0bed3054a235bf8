"""Choices: answers by seed and name, and replays with one of them changed."""

import pytest

from opcert.choices import RARELY, Choices, Replay
from opcert.errors import Inapplicable, OpcertError
from opcert.roles.drawing import Drawing


def drawn(choices: Choices) -> tuple[str, str, int]:
    """Draw a colour and a size, and a number below the size."""
    colour = choices.one("colour", ["red", "green", "blue"])
    size = choices.one("size", {"small": 3, "large": 300}, ["none"])
    return colour, str(size), choices.integer("number", 0, 99)


def test_an_answer_depends_on_the_seed_and_the_name_alone() -> None:
    alone, after_others = Choices(7), Choices(7)
    drawn(after_others)
    assert alone.one("colour", ["red", "green", "blue"]) == after_others.levels["colour"]
    assert len({drawn(Choices(seed)) for seed in range(300)}) > 100


def test_the_numbers_are_the_same_on_every_machine() -> None:
    choices = Choices(2026)
    assert choices.integers("numbers", -5, 1000, 6) == [606, 633, 446, 366, 569, 362]
    assert choices.sample("items", "abcdef", 4) == ["b", "f", "c", "a"]


def test_each_option_is_taken_and_rare_ones_rarely() -> None:
    taken = [Choices(seed).one("kind", ["a", "b"], ["rare"]) for seed in range(1200)]
    assert 0.5 < RARELY * taken.count("rare") / len(taken) < 2
    assert min(taken.count("a"), taken.count("b")) > 400


def test_a_level_is_the_text_of_an_option_or_its_name() -> None:
    choices = Choices(0)
    value = choices.one("end", {"the last": -1})
    choices.one("rank", [3])
    assert (value, choices.levels) == (-1, {"end": "the last", "rank": "3"})


def test_a_choice_without_an_option_is_inapplicable() -> None:
    with pytest.raises(Inapplicable, match="no option for axis"):
        Choices(0).one("axis", [])


def test_a_replay_changes_one_choice_and_keeps_the_others() -> None:
    for seed in range(50):
        former = Choices(seed)
        before = drawn(former)
        after = drawn(Replay(former, "colour", seed + 1000))
        assert after[1:] == before[1:]
    assert drawn(Replay(former, "", 0)) == before


def test_a_replay_of_an_argument_changes_some_of_its_choices() -> None:
    former = Choices(0)

    def answers(choices: Choices) -> list[int]:
        names = [f"axes {k}" for k in range(20)] + [f"axesx {k}" for k in range(20)]
        return [choices.integer(name, 0, 1 << 30) for name in names]

    pairs = zip(answers(former), answers(Replay(former, "axes", 1)), strict=True)
    changed = [before != after for before, after in pairs]
    assert 4 < sum(changed[:20]) < 16
    assert not any(changed[20:])


def test_an_option_that_is_no_longer_possible_is_chosen_again() -> None:
    former = Choices(0)
    former.one("axis", ["first", "last"])
    assert Replay(former, "rank", 1).one("axis", ["middle"]) == "middle"


class Circle:
    name = "axis"

    def draw_one(self, call: Drawing) -> int:
        return call.fact(self.draw_other)

    def draw_other(self, call: Drawing) -> int:
        return call.fact(self.draw_one)


def test_facts_that_depend_on_one_another_in_a_circle_are_an_error() -> None:
    circle = r"axis \(draw_one\) -> axis \(draw_other\) -> axis \(draw_one\)"
    with pytest.raises(OpcertError, match=circle):
        Drawing(Choices(0), str).fact(Circle().draw_one)
