"""The NumPy reference as a backend: calls the function that the spec of an operator names."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcert import __version__
from opcert.arrays.calls import Call, Tensor, argument_of, flatten_variadic
from opcert.arrays.element_types import Array, type_name
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
        self._own = files.load_references(None) if specs is None else {}
        spec_files = [] if specs is None else files.read_specs(files.find_spec_files(Path(specs)))
        self._functions = {
            file.spec.operator: checked_reference(file.spec, file.reference) for file in spec_files
        }

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Call the operator's reference function."""
        if operator not in self._functions:
            if operator not in self._own:
                raise NotImplementedError(f"no reference for {operator}")
            function = self._own[operator]
            # The others check every requirement by themselves.
            if getattr(sys.modules[function.__module__], "CHECKED_BY_SPEC", False):
                function = checked_reference(files.own_spec(operator), function)
            self._functions[operator] = function
        return self._functions[operator](**inputs, **attributes)


def checked_reference(spec: Spec, reference: files.Reference) -> files.Reference:
    """Return a reference that rejects the calls which violate a requirement of its spec.

    The reference itself need not check what the spec states.
    """
    conditions = Conditions(spec)
    declared = {argument.name for argument in spec.inputs}

    def checked(**arguments: Any) -> list[Array]:
        inputs = {name: value for name, value in arguments.items() if name in declared}
        tensors = {
            key: Tensor(
                type_name(array.dtype),
                array.shape,
                tuple(array.ravel().tolist()) if argument_of(key) in spec.number_inputs else None,
            )
            for key, array in flatten_variadic(inputs).items()
        }
        attributes = {name: arguments[name] for name in arguments.keys() - declared}
        for rule in conditions.check(Call(tensors, attributes)).violated:
            require(False, spec.full_id(rule), spec.requirements[rule].text)
        return reference(**arguments)

    return checked
