"""The NumPy reference as a backend: calls the function that the spec of an operator names."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from opcert import __version__
from opcert.arrays.calls import Call, Tensor, argument_of, flatten_variadic
from opcert.arrays.element_types import Array, type_name
from opcert.backends.contract import Arguments
from opcert.cases.conditions import Conditions
from opcert.reference import require
from opcert.specification import files
from opcert.specification.model import Spec


class Reference:
    """Runs the reference function of every spec in `specs`, by default of opcert's own specs.

    It rejects the calls that violate a requirement, which a reference need not check by itself.
    """

    name = "reference"

    def __init__(self, specs: str | Path | None = None) -> None:
        self.version = __version__
        self._function: Callable[[str], files.Reference]
        if specs is None:
            self._function = cache(_own_reference)
        else:
            self._function = {
                spec_file.spec.operator: checked_reference(spec_file.spec, spec_file.reference)
                for spec_file in files.read_specs(files.find_spec_files(Path(specs)))
            }.__getitem__

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> list[Array]:
        """Call the operator's reference function."""
        try:
            function = self._function(operator)
        except KeyError:
            raise NotImplementedError(f"no reference for {operator}") from None
        return function(**inputs, **attributes)


def _own_reference(operator: str) -> files.Reference:
    """Return the reference of an operator that comes with opcert, which checks every requirement.

    One of a module with `CHECKED_BY_SPEC` leaves it to the spec.
    """
    function = files.own_reference(operator)
    if getattr(sys.modules[function.__module__], "CHECKED_BY_SPEC", False):
        return checked_reference(files.own_spec(operator), function)
    return function


def checked_reference(spec: Spec, reference: files.Reference) -> files.Reference:
    """Return a reference that rejects the calls which violate a requirement of its spec.

    The reference itself need not check what the spec states.
    """
    conditions = Conditions(spec)
    declared = {argument.name for argument in spec.inputs}

    def checked(**arguments: Any) -> list[Array]:
        inputs = {name: value for name, value in arguments.items() if name in declared}
        tensors: dict[str, Tensor] = {}
        for key, array in flatten_variadic(inputs).items():
            is_read = argument_of(key) in spec.number_inputs
            values = tuple(array.ravel().tolist()) if is_read else None
            tensors[key] = Tensor(type_name(array.dtype), array.shape, values)
        attributes = {name: arguments[name] for name in arguments.keys() - declared}
        for rule in conditions.check(Call(tensors, attributes)).violated:
            require(False, spec.full_id(rule), spec.requirements[rule].text)
        return reference(**arguments)

    return checked
