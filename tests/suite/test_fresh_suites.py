"""Another seed gives a suite that no vendor has seen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays.element_types import Array
from opcert.certificate.certificate import Certificate
from opcert.certificate.certify_suite import certify
from opcert.suite.generation import generate
from opcert.suite.suite import Suite
from tests.wrong_backends import Right

OPERATOR = "openvino/VariadicSplit-1"
Inputs = Mapping[str, Array]


class Memorising(Right):
    """Repeats its outcomes of earlier calls, and rejects all other calls."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: dict[str, Sequence[Array] | Exception] = {}
        self.is_learning = True

    def run(self, operator: str, inputs: Inputs, attributes: Mapping[str, Any]) -> Sequence[Array]:
        arrays = [
            (name, str(array.dtype), array.shape, array.tobytes()) for name, array in inputs.items()
        ]
        call = repr((operator, arrays, attributes))
        if self.is_learning and call not in self.memory:
            try:
                self.memory[call] = super().run(operator, inputs, attributes)
            except ValueError as error:
                self.memory[call] = error
        outcome = self.memory.get(call, ValueError("unknown call"))
        if isinstance(outcome, Exception):
            raise outcome
        return [output.copy() for output in outcome]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "suite"
    generate(folder, operator=OPERATOR, seed=1)
    return folder


def certified(backend: Right, suite: Path | None) -> Certificate:
    return certify(backend, suite, isolated=False, operator=OPERATOR)


@pytest.mark.slow
def test_a_backend_that_has_memorised_the_shipped_suite_fails_a_fresh_one(fresh: Path) -> None:
    backend = Memorising()
    assert certified(backend, None).conformant
    backend.is_learning = False
    assert certified(backend, None).conformant
    assert not certified(backend, fresh).conformant


@pytest.mark.slow
def test_another_seed_gives_other_calls(fresh: Path) -> None:
    """Drawn calls differ, unless their data has only a few bits."""

    def calls(suite: Suite) -> set[str]:
        operator = suite.operators[OPERATOR]
        return {
            repr([(name, array.tobytes()) for name, array in operator.inputs(case).items()])
            for case in operator.cases.values()
            if "/drawn-" in case.id
            if operator.inputs(case)["data"].nbytes > 8
        }

    shipped, other = calls(Suite()), calls(Suite(fresh))
    assert len(other) > 200
    assert not other & shipped
