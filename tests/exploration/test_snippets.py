"""The text of a counterexample: a program that fails likewise."""

from pathlib import Path

import numpy as np
import pytest

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.arrays.layouts import C_ORDER, Layout, copy_in_layout, start_of
from opcert.arrays.patterns import special_bits
from opcert.backends.lookup import setup_code
from opcert.exploration.explore import Counterexample, ExplorationResult, explore
from opcert.run.comparison import Difference
from opcert.run.session import Step
from opcert.settings import RunSettings
from tests.command_line import python
from tests.faults.catalogue import FAULTS
from tests.faults.fault import the_right_one
from tests.layouts import LAYOUTS

# One of each kind of counterexample: wrong values, bits, inputs, outputs, rejections, what is kept.
NAMES = [
    "gather-8/rejected-below",
    "gather-8/bf16-one-nan",
    "gather-8/bool-as-u8",
    "broadcast-1/rank-7-rejected",
    "broadcast-1/accepts-mode-known-any",
    "dml-split/ring-1",
    "dml-split/part-128",
    "broadcast-1/outputs-by-data-address",
    "variadic-split-1/identity",
    "variadic-split-1/accepts-axis-shape-two",
]


def run_with(backend: object, counterexample: Counterexample) -> None:
    program = counterexample.program("backend = made")
    exec(program, {"made": backend})  # noqa: S102 -- what is printed is to be run


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_program_fails_with_the_wrong_backend_and_not_with_a_right_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search may go on after its time, of which half would else be left for the shrinking.
    monkeypatch.setattr("opcert.exploration.explore._SEARCH_END", 2.0)
    fault = FAULTS[name]
    result = next(explore(fault.make, RunSettings(operator=fault.operator), minutes=0.07))
    assert result.counterexample is not None
    # A valid call that is rejected raises what the backend raises.
    is_rejected = result.counterexample.fault.kind == "rejected"
    with pytest.raises(ValueError if is_rejected else AssertionError):
        run_with(fault.make(), result.counterexample)
    run_with(the_right_one(fault.operator).make(), result.counterexample)


def made_up(array: Array, layout: Layout = C_ORDER) -> Counterexample:
    step = Step("a/B", {"data": array}, {"n": [1, "x"]}, [array], {"data": layout}, ("data",))
    return Counterexample("a/B", Difference("value", "all\nwrong"), [step])


class Keeps:
    name, version = "keeps", "1"

    def __init__(self) -> None:
        self.given: dict[str, Array] = {}

    def run(self, operator: str, inputs: dict[str, Array], attributes: object) -> list[Array]:
        self.given = inputs
        return [array.copy() for array in inputs.values()]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_a_printed_array_has_its_bits_and_its_layout(name: str, layout: Layout) -> None:
    dtype = ELEMENT_TYPES[name]
    bits = np.array([*special_bits(name)[:4], 1, 0, 1, 1, 1, 1][:6], np.dtype(f"u{dtype.itemsize}"))
    array = (bits & 1 if name == "boolean" else bits).view(dtype).reshape(2, 3)
    backend = Keeps()
    run_with(backend, made_up(array, layout))
    found = backend.given["data"]
    assert found.dtype == dtype
    assert found.tobytes() == array.tobytes()
    expected = copy_in_layout(array, layout)
    assert (found.strides, start_of(found)) == (expected.strides, start_of(expected))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (30,), (3, 4, 5)])
def test_arrays_of_any_shape_are_printed(shape: tuple[int, ...]) -> None:
    array = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int16).reshape(shape)
    backend = Keeps()
    run_with(backend, made_up(array))
    assert backend.given["data"].shape == shape
    assert np.array_equal(backend.given["data"], array)


def test_a_result_is_a_line_and_a_counterexample_adds_a_program() -> None:
    def unused() -> str:
        pytest.fail("nothing was found, of which a program would be made")

    nothing = ExplorationResult("a/B", 0, 0, None)
    assert nothing.text(unused) == "a/B: no call was tried; raise --minutes"
    assert ExplorationResult("a/B", 7, 0, None).text(unused) == "a/B: 7 calls tried, nothing found"
    after_another = ExplorationResult("a/B", 1, 0, None, found=1)
    assert after_another.text(unused) == "a/B: 1 call tried, nothing else found"
    result = ExplorationResult("a/B", 7, 2, made_up(np.zeros(2)))
    text = result.text(lambda: "backend = x")
    assert text.startswith("a/B: 7 calls tried, 2 of them not supported, found (value): all")
    assert "```python\n# a/B, value: all wrong\nimport numpy as np\n\nbackend = x\n" in text


def test_the_program_needs_numpy_and_the_backend_alone(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        "class Backend:\n"
        "    name, version = 'wrong', '1'\n"
        "    def run(self, operator, inputs, attributes):\n"
        "        return [inputs['data'] + 1]\n"
    )
    backend = setup_code(f"{tmp_path / 'wrong.py'}:Backend", {})
    text = made_up(np.zeros(2, np.int8)).program(backend)
    (tmp_path / "shows.py").write_text(f"import sys\n\nsys.modules['opcert'] = None\n{text}")
    done = python("shows.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "AssertionError" in done.stderr
