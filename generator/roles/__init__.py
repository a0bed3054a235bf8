"""Roles: what an argument is to the others. One module for each.

A vendor's own role is a subclass of `Role`.
"""

from importlib.metadata import entry_points

from opcert.roles.axes import AxesRole, AxisRole
from opcert.roles.coordinates import CoordinatesRole
from opcert.roles.counts import CountRole, CountsRole
from opcert.roles.data import DataRole
from opcert.roles.descriptors import DescriptorRole, DescriptorsRole
from opcert.roles.dims import LeadingDimsRole, PermutationRole
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.element_indices import ElementIndicesRole
from opcert.roles.indices import IndicesRole
from opcert.roles.lengths import LengthsRole, PartsRole
from opcert.roles.mapping import MappingRole
from opcert.roles.number import NumberRole
from opcert.roles.partition import PartitionRole
from opcert.roles.reshape import ReshapeRole
from opcert.roles.role import OMITTED, DerivedAmbiguity, ListRole, Requirement, Role
from opcert.roles.scalar_values import FillRole, FlagRole, MaskRole, ModeRole
from opcert.roles.shape import ShapeRole
from opcert.roles.slicing_steps import SlicingStepsRole
from opcert.roles.spans import SpansRole
from opcert.roles.tensors import TensorsRole
from opcert.roles.windows import WindowsRole

# What a role of one's own is written with; the classes of other roles are in their modules.
__all__ = [
    "OMITTED",
    "ROLES",
    "DataRole",
    "DerivedAmbiguity",
    "Drawing",
    "ListRole",
    "Requirement",
    "Role",
    "near",
    "places",
    "role_classes",
]

ROLES: dict[str, type[Role]] = {
    "data": DataRole,
    "tensors": TensorsRole,
    "axis": AxisRole,
    "indices": IndicesRole,
    "element_indices": ElementIndicesRole,
    "leading_dims": LeadingDimsRole,
    "axes": AxesRole,
    "spans": SpansRole,
    "partition": PartitionRole,
    "shape": ShapeRole,
    "reshape": ReshapeRole,
    "mapping": MappingRole,
    "mode": ModeRole,
    "flag": FlagRole,
    "descriptors": DescriptorsRole,
    "descriptor": DescriptorRole,
    "windows": WindowsRole,
    "count": CountRole,
    "parts": PartsRole,
    "permutation": PermutationRole,
    "counts": CountsRole,
    "fill": FillRole,
    "lengths": LengthsRole,
    "slicing_steps": SlicingStepsRole,
    "mask": MaskRole,
    "number": NumberRole,
    "coordinates": CoordinatesRole,
}
ENTRY_POINT_GROUP = "opcert.roles"


def role_classes() -> dict[str, type[Role]]:
    """Return the role classes by name: those of opcert, and those that installed packages add."""
    installed = {point.name: point.load() for point in entry_points(group=ENTRY_POINT_GROUP)}
    return {**installed, **ROLES}
