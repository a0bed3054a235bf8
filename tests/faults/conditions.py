"""What the specs say of witnesses: which requirements they break, what they touch that is open."""

from functools import cache

from opcert.arrays import calls
from opcert.arrays.element_types import Array, type_name
from opcert.cases.conditions import Conditions
from opcert.specification.files import read_specs_in
from tests.faults.fault import Call, Fault


@cache
def conditions(operator: str) -> Conditions:
    """Return the conditions of an operator's spec."""
    (file,) = read_specs_in(None, operator)
    return Conditions(file.spec)


def open_in(fault: Fault) -> set[str]:
    """Return the ambiguities that a witness touches."""
    found = {conditions(fault.operator).ambiguity(described(call)) for call in fault.witness}
    return {each for each in found if each is not None}


def violated_by(fault: Fault) -> set[str]:
    """Return the requirements that the last call of a witness breaks."""
    of = conditions(fault.operator)
    return {f"{of.spec.slug}/{rule}" for rule in of.check(described(fault.witness[-1])).violated}


def described(call: Call) -> calls.Call:
    """Return a call as conditions see it."""
    inputs = {name: _tensor(name, array) for name, array in call.inputs.items()}
    return calls.Call(inputs, call.attributes)


def _tensor(name: str, array: Array) -> calls.Tensor:
    moved = name in ("data", "InputTensor")
    values = None if moved else tuple(array.ravel().tolist())
    return calls.Tensor(type_name(array.dtype), array.shape, values)
