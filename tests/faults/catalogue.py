"""The catalogue: every fault that the core suite has to find, by name."""

from tests.faults import (
    broadcasting,
    buffers,
    checks_broadcasting,
    checks_dml_split,
    checks_gathering,
    checks_slicing,
    checks_splitting,
    conversion,
    declining,
    displaced,
    dml_split,
    empties,
    forms,
    gathering,
    layout,
    narrowing,
    plans,
    ranks,
    scribbling,
    sizes,
    slicing,
    slicing_axes,
    state,
    variadic_split,
)
from tests.faults.fault import BROADCAST, GATHER, OPERATORS, SLICE, SPLIT, Fault

_ALL = [
    fault
    for module in (
        variadic_split,
        dml_split,
        slicing,
        slicing_axes,
        broadcasting,
        gathering,
        checks_splitting,
        checks_dml_split,
        checks_slicing,
        checks_broadcasting,
        checks_gathering,
        conversion,
        declining,
        empties,
        forms,
        layout,
        narrowing,
        ranks,
        sizes,
        buffers,
        scribbling,
        state,
        plans,
        displaced,
    )
    for fault in module.FAULTS
]
FAULTS: dict[str, Fault] = {fault.name: fault for fault in _ALL}
if len(FAULTS) < len(_ALL):
    raise ValueError(f"names are not unique: {sorted({f.name for f in _ALL if _ALL.count(f) > 1})}")

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
