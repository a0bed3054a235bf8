"""The catalogue: every fault that the core suite has to find, by name."""

from opcert.backends.contract import Backend
from tests.faults import (
    broadcasting,
    dml_split,
    elements,
    gathering,
    memory,
    outputs,
    ranks,
    slicing,
    state,
    variadic_split,
)
from tests.faults.fault import BROADCAST, GATHER, OPERATORS, SLICE, SPLIT, Fault

_ALL = [
    *(*variadic_split.FAULTS, *dml_split.FAULTS, *slicing.FAULTS),
    *(*broadcasting.FAULTS, *gathering.FAULTS, *elements.FAULTS),
    *(*outputs.FAULTS, *ranks.FAULTS, *memory.FAULTS, *state.FAULTS),
]
FAULTS: dict[str, Fault] = {fault.name: fault for fault in _ALL}
if len(FAULTS) < len(_ALL):
    raise ValueError(f"names are not unique: {sorted({f.name for f in _ALL if _ALL.count(f) > 1})}")


def made(name: str) -> Backend:
    """Return the backend of a fault, where `--backend` names this function."""
    return FAULTS[name].make()


# The operators to which each mechanism applies.
MECHANISMS: dict[str, tuple[str, ...]] = {
    "aliasing": OPERATORS,
    "axis order": OPERATORS,
    "clamping": (SLICE,),
    "conversion": OPERATORS,
    "default": (SLICE, BROADCAST, GATHER),
    "empty": (SPLIT, SLICE, BROADCAST, GATHER),
    "index arithmetic": OPERATORS,
    "input written": OPERATORS,
    "loop tail": OPERATORS,
    "memory order": OPERATORS,
    "missing validation": OPERATORS,
    "narrow index type": OPERATORS,
    "out of range": (GATHER,),
    "output form": OPERATORS,
    "output number": OPERATORS,
    "over-strict": OPERATORS,
    "rank": OPERATORS,
    "reused buffers": OPERATORS,
    "sign": (SPLIT, SLICE, GATHER),
    "size threshold": OPERATORS,
    "state": OPERATORS,
    "undeclared": OPERATORS,
}
