"""A backend of the made-up operator of the bad specs, with bugs to choose from."""

from collections.abc import Mapping, Sequence

import numpy as np

from opcert.arrays.element_types import Array


class Backend:
    """Takes rows; `bugs`, separated by commas, say what it does wrong."""

    name, version = "several-bugs", "1"

    def __init__(self, bugs: str) -> None:
        self.bugs = bugs.split(",")

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, int]
    ) -> Sequence[Array]:
        data, count = inputs["data"], attributes["count"]
        if not 0 <= count <= len(data) and "count" not in self.bugs:
            raise ValueError(count)
        if "rank" in self.bugs and data.ndim == 2:
            raise ValueError("rank")
        output = data[:count].copy()
        if "i8" in self.bugs and data.dtype == np.int8:
            output[...] = 0
        return [output]
