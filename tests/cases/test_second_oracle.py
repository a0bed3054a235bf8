"""Wrong values of references that only the element formula detects: no example and no law does."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays.element_types import Array
from opcert.cases.vectors import make_vectors
from opcert.errors import SpecError
from tests import shipped
from tests.faults.catalogue import FAULTS
from tests.faults.fault import OPERATORS, Fault

FEW_ELEMENTS, CASES, FAULTS_EACH = 200, 80, 5
# What is wrong wherever it applies; faults of others need long axes, strides or earlier calls.
MECHANISMS = ("axis order", "index arithmetic", "sign", "clamping", "out of range")


class WrongReference:
    """The reference with a fault, where the outputs have the right types and shapes."""

    def __init__(self, fault: Fault, right: Any) -> None:
        self._fault, self._backend, self._right = fault, fault.make(), right
        self.differs = False

    def __call__(self, **arguments: Any) -> list[Array]:
        right: list[Array] = self._right(**arguments)
        inputs = {name: v for name, v in arguments.items() if hasattr(v, "dtype")}
        attributes = {name: v for name, v in arguments.items() if name not in inputs}
        try:
            wrong = [
                each.copy() for each in self._backend.run(self._fault.operator, inputs, attributes)
            ]
        except Exception:
            return right
        if [(a.dtype, a.shape) for a in wrong] != [(a.dtype, a.shape) for a in right]:
            return right
        self.differs |= [a.tobytes() for a in wrong] != [a.tobytes() for a in right]
        return wrong


@shipped.at_length("operator", zip(OPERATORS))
def test_the_formula_alone_detects_wrong_values(operator: str) -> None:
    name = operator.partition("/")[2]
    spec_file = shipped.spec(name)
    bare = spec_file.spec.model_copy(update={"examples": (), "laws": ()})
    without = tuple(each.model_copy(update={"element": None}) for each in bare.outputs)
    silent = bare.model_copy(update={"outputs": without})
    small = [
        case
        for case in shipped.cases(name)
        if (case.violated_rule, case.baseline, case.ambiguity, case.example) == (None,) * 4
        and all(tensor.size <= FEW_ELEMENTS for tensor in case.call.inputs.values())
    ][:CASES]
    detected = 0
    of_it = [fault for fault in FAULTS.values() if fault.operator == operator]
    for fault in (fault for fault in of_it if fault.mechanism in MECHANISMS):
        wrong = WrongReference(fault, spec_file.reference)
        vectors = make_vectors(replace(spec_file, spec=silent, reference=wrong), small)
        assert len(vectors) == len(small)
        if wrong.differs:
            wrong = WrongReference(fault, spec_file.reference)
            with pytest.raises(SpecError) as caught:
                make_vectors(replace(spec_file, spec=bare, reference=wrong), small)
            (mistake,) = caught.value.mistakes
            line = Path(mistake.file).read_text().splitlines()[mistake.line - 1]
            assert line.strip().startswith("element: ")
            assert "the formula gives" in mistake.text
            detected += 1
        if detected == FAULTS_EACH:
            break
    assert detected == FAULTS_EACH
