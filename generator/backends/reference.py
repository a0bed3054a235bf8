"""The NumPy reference as a backend: calls the function that the spec of an operator names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcert import __version__
from opcert.arrays.element_types import Array
from opcert.cases.conditions import checked_reference
from opcert.specification import files


class Reference:
    """Runs the reference function of every spec in `specs`, by default of opcert's own specs.

    It rejects the calls that violate a requirement, which a reference need not check by itself.
    """

    name = "reference"

    def __init__(self, specs: str | Path | None = None) -> None:
        self.version = __version__
        self._functions: Mapping[str, files.Reference]
        if specs is None:
            # These check every requirement.
            self._functions = files.load_references(None)
        else:
            self._functions = {
                spec_file.spec.operator: checked_reference(spec_file.spec, spec_file.reference)
                for spec_file in files.read_specs(files.find_spec_files(Path(specs)))
            }

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Call the operator's reference function."""
        try:
            function = self._functions[operator]
        except KeyError:
            raise NotImplementedError(f"no reference for {operator}") from None
        return function(**inputs, **attributes)
