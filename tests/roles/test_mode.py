"""The role `mode`: its words, and what an omitted one stands for."""

from pathlib import Path

import pytest

from opcert.arrays import Call
from opcert.cases import InputSpace, Observer
from opcert.errors import SpecError
from opcert.specification import read_spec
from opcert.specification.role_rules import derived_requirements
from tests.roles.made_expand.specs import written


def test_each_word_is_given_and_it_is_omitted(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, name="embed")).spec
    space, observer = InputSpace(spec), Observer(spec)
    calls: dict[str, Call] = {}
    for row in space.rows(2):
        calls.setdefault(space.level_names(row)["how_word"], space.call(row, "seed"))
    given = {level: call.attributes.get("how") for level, call in calls.items()}
    assert given == {"tail": "tail", "omitted": None, "listed": "listed"}
    for level, call in calls.items():
        assert next(observer.observe(call)).levels("how_word") == {level}


def test_it_is_one_of_its_words(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, name="embed")).spec
    requirement = derived_requirements(spec)["how.word"]
    assert requirement.holds == "how in ['tail', 'listed']"
    assert requirement.text == "how is tail or listed."


@pytest.mark.parametrize("default", ["", "default: head, "])
def test_an_omitted_mode_needs_a_default_among_its_words(default: str, tmp_path: Path) -> None:
    path = written(tmp_path, ("default: tail, ", default), name="embed")
    with pytest.raises(SpecError, match=r":26:.*a default for a mode that may be omitted"):
        read_spec(path)
