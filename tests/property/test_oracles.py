"""The reference of each core operator computes the document's formula, worked out by other code."""

from collections.abc import Callable, Mapping
from itertools import islice

import pytest

from opcert.arrays.layouts import copy_in_layout
from opcert.arrays.patterns import Recipe, materialize
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import drawn_calls
from opcert.specification.files import call_reference
from opcert.specs import CORE_OPERATORS
from tests import shipped
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT
from tests.faults.finding import core_suite
from tests.property import oracles
from tests.property.oracles import Tensor, described

FORMULAS: Mapping[str, Callable[..., list[Tensor]]] = {
    SPLIT: oracles.variadic_split_1,
    DML: oracles.dml_split,
    SLICE: oracles.slice_8,
    BROADCAST: oracles.broadcast_1,
    GATHER: oracles.gather_8,
}
# No suite has this seed, and Python works out so many elements in a millisecond.
SEED, CALLS, MOST_ELEMENTS = 7, 300, 1000
each_operator = pytest.mark.parametrize("operator", CORE_OPERATORS)


@each_operator
def test_the_formula_gives_the_outputs_of_the_documents_examples(operator: str) -> None:
    suite = core_suite().operators[operator]
    examples = [case for case in suite.cases.values() if case.example]
    assert examples
    for case in examples:
        formula = FORMULAS[operator](**suite.inputs(case), **case.attributes)
        assert formula == [*map(described, suite.outputs(case))], case.id


@each_operator
def test_the_reference_moves_any_bits_of_a_drawn_call_by_the_formula(operator: str) -> None:
    spec_file = shipped.spec(operator.partition("/")[2])
    conditions = Conditions(spec_file.spec)
    drawn = (call for _, call, _ in drawn_calls(spec_file.spec, SEED))
    small = (call for call in drawn if conditions.has_small_outputs(call, MOST_ELEMENTS))
    for number, call in enumerate(islice(small, CALLS)):
        inputs = {}
        for name, tensor in call.inputs.items():
            any_bits = Recipe(number).array(tensor.type, tensor.shape, tensor.layout.repeated)
            array = any_bits if tensor.values is None else materialize(tensor)
            inputs[name] = copy_in_layout(array, tensor.layout)
        outputs = call_reference(spec_file.reference, inputs, call.attributes)
        formula = FORMULAS[operator](**inputs, **call.attributes)
        assert [*map(described, outputs)] == formula, call
