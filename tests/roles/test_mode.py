"""The role `mode`: its words, and what an omitted one means."""

from pathlib import Path

import pytest

from opcert.errors import SpecError
from opcert.specification.files import read_spec
from opcert.specification.role_rules import derived_requirements
from tests.roles.made_expand.specs import write_changed


def test_the_requirement_lists_the_words(tmp_path: Path) -> None:
    spec = read_spec(write_changed(tmp_path, name="embed")).spec
    requirement = derived_requirements(spec)["how.word"]
    assert requirement.holds == "how in ['tail', 'listed']"
    assert requirement.text == "how is tail or listed."


@pytest.mark.parametrize(
    ("default", "text"),
    [("", "missing default"), ("default: head, ", "unknown word 'head'")],
)
def test_an_optional_mode_needs_a_default_among_its_words(
    default: str, text: str, tmp_path: Path
) -> None:
    path = write_changed(tmp_path, ("default: tail, ", default), name="embed")
    with pytest.raises(SpecError, match=rf":26:.*{text} of a mode that may be omitted"):
        read_spec(path)
