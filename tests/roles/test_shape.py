"""The role `shape`: a made-up operator that broadcasts data, and a wrong backend."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays.element_types import Array
from opcert.certificate.certify_suite import certify
from opcert.errors import SpecError
from opcert.specification.files import read_spec
from opcert.specification.role_rules import derived_requirements
from opcert.suite.generation import generate
from tests.roles.made_expand.expand import tiling
from tests.roles.made_expand.specs import write_changed
from tests.roles.made_up import random_calls

pytestmark = pytest.mark.usefixtures("few_calls")


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the spec of an operator that expands data, and its reference."""
    return write_changed(tmp_path_factory.mktemp("specs")).parent


@pytest.fixture(scope="module")
def suite(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its suite."""
    folder = tmp_path_factory.mktemp("generated") / "suite"
    generate(folder, specs)
    return folder


def test_the_reference_passes_the_suite(specs: Path, suite: Path) -> None:
    assert certify("reference", suite, specs=specs).conformant


class Tiles:
    """A backend that fills the output with repetitions of data."""

    name, version = "tiles", "1"

    def run(
        self, _: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        return tiling(**inputs, **attributes)


def test_the_suite_fails_a_backend_that_tiles_data(specs: Path, suite: Path) -> None:
    assert not certify(Tiles(), suite, specs=specs).conformant


def test_derived_requirements(specs: Path) -> None:
    requirements = derived_requirements(read_spec(specs / "expand.yaml").spec)
    assert {key: each.holds for key, each in requirements.items() if key != "required"} == {
        "sizes.type": "sizes.type in ['i32', 'i64']",
        "sizes.rank": "sizes.rank == 1",
        "sizes.least": "all(size >= 0 for size in sizes.values)",
        "sizes.ranks": "data.rank <= sizes.size",
        "sizes.extents": "broadcasts(data.shape, sizes.values)",
    }
    assert all(each.when == "True" for each in requirements.values())
    assert requirements["sizes.extents"].prerequisites == ("sizes.ranks",)


@pytest.mark.parametrize(
    ("of", "text"),
    [
        ("dato", "unknown argument 'dato'"),
        ("sizes", "'sizes' does not have the role data"),
    ],
)
def test_wrong_data_is_reported_at_its_place(of: str, text: str, tmp_path: Path) -> None:
    path = write_changed(tmp_path, ("of: data, most", f"of: {of}, most"))
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    (mistake,) = caught.value.mistakes
    assert text in str(mistake)
    assert f"{path}:13:" in str(mistake)


def test_without_empty_targets_every_target_has_elements(tmp_path: Path) -> None:
    path = write_changed(tmp_path, ("most: 4,", "most: 4, empty: false,"))
    spec = read_spec(path).spec
    assert all(call.inputs["sizes"].size for call in random_calls(spec))
