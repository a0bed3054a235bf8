"""Outputs that a backend has returned: whether they, or the inputs, are written to later."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from opcert.arrays import Array, InputArrays
from opcert.run.buffers import mutated
from opcert.run.comparison import compare_outputs


class RemoteOutputs(Protocol):
    """Outputs that another process keeps."""

    @property
    def changed(self) -> bool:
        """Whether they have been written to since."""


@dataclass(frozen=True)
class CallRecord:
    """Outputs that a backend returned, with the golden ones that they equalled at the time.

    What another process returned is `kept` there, and `outputs` are a copy. `inputs` are what the
    call was last given, as it was `given`.
    """

    outputs: Sequence[Array] = ()
    golden: Sequence[Array] = ()
    inputs: InputArrays = field(default_factory=dict)
    given: InputArrays = field(default_factory=dict)
    kept: RemoteOutputs | None = None

    @property
    def changed(self) -> bool:
        """Whether the outputs have been written to since."""
        if self.kept is not None:
            return self.kept.changed
        return compare_outputs(self.golden, self.outputs) is not None

    @property
    def written(self) -> bool:
        """Whether the inputs have been written to since."""
        return mutated(self.inputs, self.given) is not None

    @property
    def nbytes(self) -> int:
        """How many bytes are held."""
        return sum(each.nbytes for each in (*self.golden, *self.given.values()))
