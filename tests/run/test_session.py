"""Sessions: each step must give its golden outputs, and leave inputs and earlier outputs alone."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from opcert.arrays.element_types import Array
from opcert.arrays.layouts import C_ORDER
from opcert.backends.contract import Backend
from opcert.run.comparison import Difference
from opcert.run.outcome import IsolatedBackend, Outcome
from opcert.run.session import Session, Step
from tests.layouts import LAYOUTS
from tests.wrong_backends import (
    AcceptsEverything,
    Attributes,
    CachesByShape,
    DoesNothing,
    Inputs,
    RejectsEverything,
    ReturnsArray,
    ReturnsItsInput,
    ReturnsViews,
    Right,
    SupportsNothing,
    WritesToItsInput,
    WrongDtype,
    WrongEveryThirdCall,
    WrongShape,
)

DATA = np.arange(6, dtype=np.int32).reshape(2, 3)
INPUTS: dict[str, Array] = {
    "data": DATA,
    "indices": np.array([1], np.int8),
    "axis": np.array(1, np.int8),
}
VALID = Step(
    "openvino/Gather-8",
    INPUTS,
    {},
    [DATA[:, 1:2].copy()],
    dict.fromkeys(INPUTS, C_ORDER),
    ("data",),
)
OTHER = replace(VALID, inputs={**INPUTS, "data": ~DATA}, golden=[~DATA[:, 1:2]], relation="other")
AGAIN = VALID
BROKEN = replace(
    VALID, inputs={**INPUTS, "axis": np.array(2, np.int8)}, golden=None, rule="gather-8/axis-range"
)


def kinds(backend: Backend, *steps: Step) -> tuple[int, str] | None:
    fault = Session(backend).first_fault(steps)
    return None if fault is None else (fault[0], fault[1].kind)


def test_a_right_backend_has_no_fault() -> None:
    assert kinds(Right(), VALID, OTHER, AGAIN, BROKEN, VALID) is None


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        (RejectsEverything(), (0, "rejected")),
        (DoesNothing(), (0, "count")),
        (ReturnsArray(), (0, "type")),
        (WrongDtype(), (0, "dtype")),
        (WrongShape(), (0, "shape")),
        (WritesToItsInput(), (0, "mutated-input")),
        (ReturnsItsInput(), (0, "shape")),
        (ReturnsViews(), (1, "aliased-output")),
        (CachesByShape(), (1, "value")),
        (WrongEveryThirdCall(), (2, "value")),
        (AcceptsEverything(), (3, "accepted")),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Right) else "",
)
def test_the_first_fault_comes_with_its_step(backend: Backend, expected: tuple[int, str]) -> None:
    assert kinds(backend, VALID, OTHER, AGAIN, BROKEN) == expected


def test_an_unsupported_call_is_no_fault() -> None:
    session = Session(SupportsNothing())
    assert session.first_fault([VALID, OTHER]) is None
    assert session.declined
    assert session.first_fault([BROKEN, VALID]) is None


class Answers(Right, IsolatedBackend):
    """An isolated backend whose calls all have the same outcome."""

    def __init__(self, answer: Outcome) -> None:
        super().__init__()
        self.answer = answer

    def call(self, *_: object) -> Outcome:
        return self.answer

    def take_end(self) -> None:
        """The process never ends."""


@pytest.mark.parametrize("step", [VALID, BROKEN], ids=["valid", "broken"])
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Outcome("crash", reason="it ended"), "crash"),
        (Outcome("hang", reason="no answer"), "hang"),
        (Outcome("rejected", fault=Difference("protocol", "garbage")), "protocol"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_dead_process_and_a_malformed_answer_are_no_rejections(
    answer: Outcome, kind: str, step: Step
) -> None:
    assert kinds(Answers(answer), step) == (0, kind)


class Recorder(Right):
    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Array] = []

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        self.inputs.append(inputs["data"])
        return super().run(operator, inputs, attributes)


def with_data_in(layout: str) -> Step:
    return replace(VALID, layouts={**VALID.layouts, "data": LAYOUTS[layout]})


def test_a_step_reuses_the_buffers_of_the_previous_one_where_they_fit() -> None:
    backend = Recorder()
    assert kinds(backend, VALID, OTHER, with_data_in("gapped")) is None
    first, second, third = backend.inputs
    assert np.shares_memory(first, second)
    assert not np.shares_memory(second, third)


def test_inputs_are_laid_out_as_the_step_says() -> None:
    backend = Recorder()
    assert kinds(backend, with_data_in("fortran")) is None
    assert backend.inputs[0].flags.f_contiguous
    assert not backend.inputs[0].flags.c_contiguous
