"""Roles: what an argument is to the others. One module for each.

A vendor's own role is a subclass of `Role`.
"""

from typing import get_args

from opcert.roles.axes import AxesRole, AxisRole
from opcert.roles.coordinates import CoordinatesRole
from opcert.roles.counts import CountRole, CountsRole
from opcert.roles.data import DataRole
from opcert.roles.descriptors import DescriptorRole, DescriptorsRole
from opcert.roles.dims import LeadingDimsRole, PermutationRole
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.indices import ElementIndicesRole, IndicesRole
from opcert.roles.lengths import LengthsRole, PartitionRole, PartsRole
from opcert.roles.modes import FlagRole, ModeRole
from opcert.roles.number import NumberRole, RealRole
from opcert.roles.products import MatricesRole
from opcert.roles.reshape import ReshapeRole
from opcert.roles.role import OMITTED, DerivedAmbiguity, ListRole, Requirement, Role
from opcert.roles.scalar_values import FillRole, MaskRole
from opcert.roles.shape import MappingRole, ShapeRole
from opcert.roles.slicing_steps import SlicingStepsRole
from opcert.roles.sliding import FilterRole, SlidingRole
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
]

_CLASSES: tuple[type[Role], ...] = (
    *(DataRole, TensorsRole, AxisRole, IndicesRole, ElementIndicesRole, LeadingDimsRole, AxesRole),
    *(SpansRole, PartitionRole, ShapeRole, ReshapeRole, MappingRole, ModeRole, FlagRole),
    *(DescriptorsRole, DescriptorRole, WindowsRole, CountRole, PartsRole, PermutationRole),
    *(CountsRole, FillRole, LengthsRole, SlicingStepsRole, MaskRole, NumberRole, CoordinatesRole),
    *(MatricesRole, RealRole, SlidingRole, FilterRole),
)
# By the value of the key `role`.
ROLES = {get_args(kind.model_fields["role"].annotation)[0]: kind for kind in _CLASSES}
