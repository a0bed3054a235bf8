"""The NumPy reference as a backend: calls the function that the spec of an operator names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opcert import __version__
from opcert.arrays.element_types import Array
from opcert.specification.files import load_references


class Reference:
    """Runs the reference function of every spec in `specs`, by default of opcert's own specs."""

    name = "reference"

    def __init__(self, specs: str | Path | None = None) -> None:
        self.version = __version__
        self._functions = load_references(Path(specs) if specs is not None else None)

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        """Call the operator's reference function."""
        try:
            function = self._functions[operator]
        except KeyError:
            raise NotImplementedError(f"no reference for {operator}") from None
        return function(**inputs, **attributes)
