"""Another seed gives a suite that a vendor has never seen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays import Array
from opcert.certificate import Certificate, certify
from opcert.suite import Suite, generate
from tests.wrong_backends import Right

OPERATOR = "openvino/VariadicSplit-1"
Inputs = Mapping[str, Array]


class Memorising(Right):
    """Answers what it has been asked before as it did then; anything else it does not compute."""

    def __init__(self) -> None:
        super().__init__()
        self.memory: dict[str, Sequence[Array] | Exception] = {}
        self.is_learning = True

    def run(self, operator: str, inputs: Inputs, attributes: Mapping[str, Any]) -> Sequence[Array]:
        arrays = [
            (name, str(each.dtype), each.shape, each.tobytes()) for name, each in inputs.items()
        ]
        question = repr((operator, arrays, attributes))
        if self.is_learning and question not in self.memory:
            try:
                self.memory[question] = super().run(operator, inputs, attributes)
            except ValueError as error:
                self.memory[question] = error
        answer = self.memory.get(question, ValueError("never asked"))
        if isinstance(answer, Exception):
            raise answer
        return [output.copy() for output in answer]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "suite"
    generate(folder, operator=OPERATOR, seed=1)
    return folder


def certified(backend: Right, suite: Path | None) -> Certificate:
    return certify(backend, suite, isolated=False, operator=OPERATOR)


def test_a_backend_that_has_memorised_the_shipped_suite_fails_a_fresh_one(fresh: Path) -> None:
    backend = Memorising()
    assert certified(backend, None).conformant
    backend.is_learning = False
    assert certified(backend, None).conformant
    assert not certified(backend, fresh).conformant


def test_another_seed_gives_other_calls(fresh: Path) -> None:
    """Documented calls are the same, and data of a few bits may be; other drawn calls differ."""

    def calls(suite: Suite) -> set[str]:
        operator = suite.operators[OPERATOR]
        return {
            repr([(name, each.tobytes()) for name, each in operator.inputs(case).items()])
            for case in operator.index.cases
            if case.expects == "outputs" and case.levels.get("data_elements") == "no"
            if operator.inputs(case)["data"].nbytes > 8
        }

    shipped, other = calls(Suite()), calls(Suite(fresh))
    assert len(other) > 200
    assert not other & shipped
