"""What the specs say of calls: which requirements they break, what they touch that is open."""

from functools import cache

from opcert.arrays import calls
from opcert.arrays.element_types import Array, type_name
from opcert.cases.conditions import Conditions
from opcert.specification.files import read_specs_in
from tests.faults.fault import Call


@cache
def conditions(operator: str) -> Conditions:
    """Return the conditions of an operator's spec."""
    (file,) = read_specs_in(None, operator)
    return Conditions(file.spec)


def described(call: Call) -> calls.Call:
    """Return a call as conditions see it."""
    inputs = {name: _tensor(name, array) for name, array in call.inputs.items()}
    return calls.Call(inputs, call.attributes)


def _tensor(name: str, array: Array) -> calls.Tensor:
    moved = name in ("data", "InputTensor")
    values = None if moved else tuple(array.ravel().tolist())
    return calls.Tensor(type_name(array.dtype), array.shape, values)
