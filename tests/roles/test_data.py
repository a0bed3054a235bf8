"""The role `data`: extents, layouts and types of a tensor, with each axis as the tested one."""

from pathlib import Path

from tests.roles.made_up import SPECS, random_calls, read

SPEC = SPECS["data"]


def test_without_empty_data_no_extent_is_0(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("rank: [0, 5]", "rank: [1, 3], empty: false"))
    assert all(0 not in call.inputs["data"].shape for call in random_calls(spec))


def test_extents_reach_past_16_bits_and_down_to_0(tmp_path: Path) -> None:
    shapes = [call.inputs["data"].shape for call in random_calls(read(tmp_path, SPEC), 400)]
    assert {len(shape) for shape in shapes} == {0, 1, 2, 3, 4, 5}
    assert max(max(shape, default=1) for shape in shapes) > 1 << 16
    assert any(0 in shape for shape in shapes)
