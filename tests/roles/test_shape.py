"""The role `shape`: a made-up operator that broadcasts data, and a wrong backend."""

from collections.abc import Mapping
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest

from opcert.arrays.calls import Call, broadcasts
from opcert.arrays.element_types import Array
from opcert.cases.input_space import InputSpace, Observer
from opcert.certificate.certify_suite import certify
from opcert.errors import SpecError
from opcert.roles.factors import Sampler
from opcert.roles.mapping import STRETCHED, Stretch, observed_stretches, stretched_shapes
from opcert.specification.files import read_spec
from opcert.specification.role_rules import derived_requirements
from opcert.suite.coverage import measure_coverage
from opcert.suite.generation import generate
from opcert.suite.suite import Suite
from tests.roles.made_expand.expand import tiling
from tests.roles.made_expand.specs import write_changed

BITS_16 = 65535


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


def calls(specs: Path, *, masked: bool) -> list[Call]:
    """Return the calls for rows with masking levels, or for all others."""
    space = InputSpace(read_spec(specs / "expand.yaml").spec)
    _, unmasked = space.feasible_rows()
    return [
        space.call(row, "seed")
        for row in space.rows(2)
        if (unmasked.consistent_with(dict(enumerate(row))) is None) == masked
    ]


def test_the_reference_passes_a_suite_that_covers_all_levels(specs: Path, suite: Path) -> None:
    assert certify("reference", suite, specs=specs).conformant
    described = {"example/Expand-1": read_spec(specs / "expand.yaml")}
    (coverage,) = measure_coverage(Suite(suite, specs), described)
    assert coverage.share == 1.0


class Tiles:
    """A backend that fills the output with repetitions of data."""

    name, version = "tiles", "1"

    def run(
        self, _: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        return tiling(**inputs, **attributes)


def test_the_suite_fails_a_backend_that_tiles_data(specs: Path, suite: Path) -> None:
    assert not certify(Tiles(), suite, specs=specs).conformant


def test_built_calls_exhibit_their_levels(specs: Path) -> None:
    spec = read_spec(specs / "expand.yaml").spec
    space, observer = InputSpace(spec), Observer(spec)
    for row in space.rows(2):
        levels = space.level_names(row)
        # Some draws are more special than the level, such as varied extents that are equal.
        drawn = (space.call(row, str(seed)) for seed in range(16))
        assert any(not observer.unobserved(call, levels) for call in drawn), levels


def test_unmasked_calls_have_distinguishable_elements(specs: Path) -> None:
    for call in calls(specs, masked=False):
        assert call.inputs["data"].size > 1, call
        assert prod(call.inputs["sizes"].values or ()) > 0, call


def test_masked_calls_have_no_distinguishable_elements(specs: Path) -> None:
    for call in calls(specs, masked=True):
        data, sizes = call.inputs["data"], call.inputs["sizes"].values or ()
        assert data.size < 2 or data.uniform != "no" or not prod(sizes), call


def test_an_axis_is_stretched_past_16_bits_in_few_elements(specs: Path) -> None:
    far = [call for call in calls(specs, masked=False) if _longest(call) > BITS_16]
    assert far
    for call in far:
        assert call.inputs["data"].size == 2
        assert call.inputs["data"].nbytes == 2


def _longest(call: Call) -> int:
    return max((int(size) for size in call.inputs["sizes"].values or ()), default=0)


@pytest.mark.parametrize("kind", STRETCHED)
@pytest.mark.parametrize("is_stretched", [False, True])
def test_drawn_stretches_are_observed(kind: str, is_stretched: bool) -> None:
    random = Random(0)
    for number in range(100):
        rank = 2 if kind == "far" else random.randint(3, 6)
        places = sorted(random.sample(range(rank + 2), rank))
        target = [random.choice([1, 2, 5]) for _ in range(rank + 2)]
        tested_axis = random.randrange(rank)
        target[places[tested_axis]] = 4
        stretch = Stretch(tested_axis, is_stretched, kind, "long", keeps_another=is_stretched)
        shape, grown = stretched_shapes(target, places, stretch, Sampler(str(number)))
        assert broadcasts(shape, [grown[place] for place in places])
        assert (shape[tested_axis] == 1) == is_stretched
        assert kind in observed_stretches(shape, grown, places, tested_axis)


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
    levels = InputSpace(read_spec(path).spec).factors["sizes_added"]
    assert "empty" not in [level.name for level in levels]
