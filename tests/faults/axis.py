"""The axis of a call: as it is given, counted from the front, and how long it is."""

from tests.faults.fault import Call


def given_axis(call: Call) -> int:
    """Return the axis as it is given, in an input or in DirectML's attribute."""
    if "axis" in call.inputs:
        return int(call["axis"].item())
    found: int = call.attributes["Axis"]
    return found


def axis_of(call: Call) -> int:
    """Return the axis of a valid call, counted from the front."""
    return given_axis(call) % call.data.ndim


def extent_of(call: Call) -> int:
    """Return how long data is on the axis of a valid call."""
    extent: int = call.data.shape[axis_of(call)]
    return extent
