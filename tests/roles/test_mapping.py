"""The role `mapping`: when it is given, what it lists, and what is observed of it."""

from pathlib import Path

import pytest

from opcert.errors import SpecError
from opcert.specification.files import read_spec
from opcert.specification.model import Spec
from opcert.specification.role_rules import derived_requirements
from tests.roles.made_expand.specs import write_changed
from tests.roles.made_up import random_calls

# By the keys that decide when it is given: the changes to the made-up spec.
_MODE = "    mode: how\n    mode_is: listed\n"
_GIVEN = '  - {id: places-given, from: places.given, clause: "3"}\n'
_ALIGNED = [
    f'  - {{id: {name}, from: sizes.{name}, clause: "1"}}\n' for name in ("ranks", "extents")
]
_WAYS: dict[str, list[tuple[str, str]]] = {
    "in a mode": [],
    "if the caller likes": [(_MODE, ""), (_GIVEN, "")],
    "always": [
        (_MODE, ""),
        (_GIVEN, ""),
        *((line, "") for line in _ALIGNED),
        ("required: false\n", "required: true\n"),
    ],
}


def spec(folder: Path, way: str, ones: str = "open") -> Spec:
    """A spec whose mapping is given in one of these ways."""
    changes = [*_WAYS[way], ("ones: open", f"ones: {ones}")]
    return read_spec(write_changed(folder, *changes, name="embed")).spec


@pytest.mark.parametrize("way", _WAYS)
def test_it_is_given_in_the_right_calls(way: str, tmp_path: Path) -> None:
    calls = random_calls(spec(tmp_path, way))
    given = ["places" in call.inputs for call in calls]
    if way == "in a mode":
        assert given == [call.attributes.get("how") == "listed" for call in calls]
    assert any(given)
    assert all(given) == (way == "always")


@pytest.mark.parametrize("ones", ["kept", "stretched", "open"])
def test_a_size_of_1_stretches_only_with_ones_stretched(ones: str, tmp_path: Path) -> None:
    stretches = False
    for call in random_calls(spec(tmp_path, "in a mode", ones)):
        inputs = call.inputs
        if "places" in inputs:
            sizes, places = inputs["sizes"].values or (), inputs["places"].values or ()
            at_places = [sizes[int(place)] for place in places]
            pairs = zip(inputs["data"].shape, at_places, strict=True)
            stretches |= any(own != size for own, size in pairs)
    assert stretches == (ones == "stretched")


def test_derived_requirements(tmp_path: Path) -> None:
    requirements = derived_requirements(spec(tmp_path, "in a mode"))
    listed = "how == 'listed' and places is not None"
    conditions = {key: (each.when, each.holds) for key, each in requirements.items()}
    assert conditions["places.given"] == ("how == 'listed'", "places is not None")
    assert conditions["places.type"] == (listed, "places.type in ['i32', 'i64']")
    assert conditions["places.size"] == (listed, "places.size == data.rank")
    assert conditions["places.range"] == (
        listed,
        "all(0 <= axis < sizes.size for axis in places.values)",
    )
    assert conditions["sizes.ranks"][0] == "how == 'tail'"
    assert requirements["sizes.ranks"].text.startswith("In mode tail, ")


@pytest.mark.parametrize(("ones", "sizes"), [("kept", ""), ("stretched", "1, "), ("open", "1, ")])
def test_a_size_of_1_is_valid_unless_ones_are_kept(ones: str, sizes: str, tmp_path: Path) -> None:
    holds = derived_requirements(spec(tmp_path, "always", ones))["places.extents"].holds
    assert f"n in [{sizes}sizes.values[axis]]" in holds


def test_a_required_mapping_leaves_no_requirement_of_aligned_data(tmp_path: Path) -> None:
    keys = derived_requirements(spec(tmp_path, "always")).keys()
    assert not keys & {"sizes.ranks", "sizes.extents", "places.given"}


@pytest.mark.parametrize(
    ("old", "new", "text", "line"),
    [
        ("into: sizes", "into: data", "'data' does not have the role shape", 17),
        ("mode: how", "mode: hou", "unknown argument 'hou'; did you mean 'how'?", 18),
        (
            "mode_is: listed",
            "mode_is: liste",
            "unknown word 'liste' of 'how'; did you",
            19,
        ),
        ("    mode_is: listed\n", "", "missing key 'mode_is'; expected tail or listed", 18),
        ("    mode: how\n", "", "missing key 'mode'", 18),
        ("required: false\n", "required: true\n", "expected 'required: false'", 18),
    ],
)
def test_a_wrong_relation_is_reported_at_its_place(
    old: str, new: str, text: str, line: int, tmp_path: Path
) -> None:
    path = write_changed(tmp_path, (old, new), name="embed")
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    reported = [str(mistake) for mistake in caught.value.mistakes]
    assert any(text in each and f"{path}:{line}:" in each for each in reported), reported
