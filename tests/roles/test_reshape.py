"""The role `reshape`: an operator that reshapes data, and wrong implementations of it."""

from pathlib import Path

from tests.roles.made_up import SPECS, random_calls, read

SPEC = SPECS["reshape"]
_FULL = "[data.shape[k] if keeps and n == 0 else n for k, n in enumerate(sizes.values)]"


def test_targets_infer_and_copy_sizes(tmp_path: Path) -> None:
    calls = random_calls(read(tmp_path, SPEC))
    targets = [call.inputs["sizes"].values or () for call in calls]
    assert any(-1 in target for target in targets)
    assert any(0 in target for target in targets)


def test_a_role_without_a_flag_copies_nothing(tmp_path: Path) -> None:
    spec = SPEC.replace("copies: keeps, ", "").replace(
        "  - {id: copied, from: sizes.copied, clause: S}\n", ""
    )
    spec = spec.replace(_FULL, "sizes.values")
    for call in random_calls(read(tmp_path, spec)):
        assert 0 not in (call.inputs["sizes"].values or ()) or not call.inputs["data"].size
