"""Roles: what an argument is to the others. One module for each."""

from importlib.metadata import entry_points

from opcert.generator.roles.axes import Axes
from opcert.generator.roles.axis import Axis
from opcert.generator.roles.count import Count
from opcert.generator.roles.counts import Counts
from opcert.generator.roles.data import Data
from opcert.generator.roles.descriptors import Descriptors
from opcert.generator.roles.fill import Fill
from opcert.generator.roles.indices import Indices
from opcert.generator.roles.leading_dims import LeadingDims
from opcert.generator.roles.mapping import AxisMapping
from opcert.generator.roles.mode import Mode
from opcert.generator.roles.partition import Partition
from opcert.generator.roles.parts import Parts
from opcert.generator.roles.permutation import Permutation
from opcert.generator.roles.role import Role
from opcert.generator.roles.shape import Shape
from opcert.generator.roles.spans import Spans

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
