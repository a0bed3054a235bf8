"""Roles: what an argument is to the others. Those that are alike share a module.

A vendor's own role is a subclass of `Role`.
"""

from typing import get_args

from opcert.roles.axes import AxesRole, AxisRole, PermutationRole
from opcert.roles.data import DataRole, PlainDataRole
from opcert.roles.descriptors import CountRole, DescriptorRole, DescriptorsRole
from opcert.roles.drawing import Drawing, near, places
from opcert.roles.element_indices import CoordinatesRole, ElementIndicesRole
from opcert.roles.indices import IndicesRole, LeadingDimsRole
from opcert.roles.lengths import CountsRole, LengthsRole, PartitionRole, PartsRole
from opcert.roles.plain_values import FlagRole, ModeRole, NumberRole, RealRole
from opcert.roles.role import OMITTED, DerivedAmbiguity, ListRole, Requirement, Role
from opcert.roles.shape import MappingRole, ReshapeRole, ShapeRole
from opcert.roles.slicing_steps import MaskRole, SlicingStepsRole
from opcert.roles.sliding import FilterRole, SlidingRole, WindowsRole
from opcert.roles.spans import SpansRole
from opcert.roles.tensors import FillRole, MatricesRole, TensorsRole

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
    *(PlainDataRole, TensorsRole, FillRole, MatricesRole, FilterRole),
    *(AxisRole, AxesRole, PermutationRole, LeadingDimsRole),
    *(IndicesRole, ElementIndicesRole, CoordinatesRole),
    *(SpansRole, SlicingStepsRole, MaskRole, WindowsRole, SlidingRole),
    *(ShapeRole, ReshapeRole, MappingRole),
    *(PartitionRole, PartsRole, LengthsRole, CountsRole, CountRole),
    *(DescriptorsRole, DescriptorRole),
    *(ModeRole, FlagRole, NumberRole, RealRole),
)
# By the value of the key `role`.
ROLES = {get_args(kind.model_fields["role"].annotation)[0]: kind for kind in _CLASSES}
