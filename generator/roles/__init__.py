"""Roles: what an argument is to the others. One module for each."""

from importlib.metadata import entry_points

from opcert.roles.axes import Axes
from opcert.roles.axis import Axis
from opcert.roles.count import Count
from opcert.roles.counts import Counts
from opcert.roles.data import Data
from opcert.roles.descriptors import Descriptors
from opcert.roles.fill import Fill
from opcert.roles.indices import Indices
from opcert.roles.leading_dims import LeadingDims
from opcert.roles.mapping import AxisMapping
from opcert.roles.mode import Mode
from opcert.roles.partition import Partition
from opcert.roles.parts import Parts
from opcert.roles.permutation import Permutation
from opcert.roles.role import Role
from opcert.roles.shape import Shape
from opcert.roles.spans import Spans

ROLES: dict[str, type[Role]] = {
    "data": Data,
    "axis": Axis,
    "indices": Indices,
    "leading_dims": LeadingDims,
    "axes": Axes,
    "spans": Spans,
    "partition": Partition,
    "shape": Shape,
    "mapping": AxisMapping,
    "mode": Mode,
    "descriptors": Descriptors,
    "count": Count,
    "parts": Parts,
    "permutation": Permutation,
    "counts": Counts,
    "fill": Fill,
}
ENTRY_POINTS = "opcert.roles"


def role_classes() -> dict[str, type[Role]]:
    """Return the role classes by name: those of opcert, and those that installed packages add."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    return {**{name: point.load() for name, point in found.items()}, **ROLES}
