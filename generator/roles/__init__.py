"""Roles: what an argument is to the others. One module for each.

A vendor's own role is a subclass of `Role`.
"""

from importlib.metadata import entry_points

from opcert.roles.axes import AxesRole, AxisRole
from opcert.roles.counts import CountRole, CountsRole
from opcert.roles.data import DataRole
from opcert.roles.descriptors import DescriptorRole, DescriptorsRole
from opcert.roles.dims import LeadingDimsRole, PermutationRole
from opcert.roles.draws import (
    BuildContext,
    Choice,
    ObservationPoint,
    ObservedLevels,
    RandomSource,
    Sampler,
    levels_where,
)
from opcert.roles.element_indices import ElementIndicesRole
from opcert.roles.factors import (
    Argument,
    Attribute,
    BoundExpressions,
    Constraint,
    DerivedFactor,
    ExpressionText,
    Factor,
    Input,
    KebabCaseId,
    LevelName,
    SpecModel,
    forbid,
    is_plain_value,
)
from opcert.roles.indices import IndicesRole
from opcert.roles.lengths import LengthsRole, PartsRole
from opcert.roles.mapping import MappingRole
from opcert.roles.partition import PartitionRole
from opcert.roles.reshape import ReshapeRole
from opcert.roles.role import OMITTED, DerivedAmbiguity, ListRole, Requirement, Role, Signature
from opcert.roles.scalar_values import FillRole, FlagRole, MaskRole, ModeRole
from opcert.roles.shape import ShapeRole
from opcert.roles.slicing_steps import SlicingStepsRole
from opcert.roles.spans import SpansRole
from opcert.roles.tensors import TensorsRole
from opcert.roles.windows import WindowsRole

__all__ = [
    "ENTRY_POINT_GROUP",
    "OMITTED",
    "ROLES",
    "Argument",
    "Attribute",
    "AxesRole",
    "AxisRole",
    "BoundExpressions",
    "BuildContext",
    "Choice",
    "Constraint",
    "CountRole",
    "CountsRole",
    "DataRole",
    "DerivedAmbiguity",
    "DerivedFactor",
    "DescriptorRole",
    "DescriptorsRole",
    "ElementIndicesRole",
    "ExpressionText",
    "Factor",
    "FillRole",
    "FlagRole",
    "IndicesRole",
    "Input",
    "KebabCaseId",
    "LeadingDimsRole",
    "LengthsRole",
    "LevelName",
    "ListRole",
    "MappingRole",
    "MaskRole",
    "ModeRole",
    "ObservationPoint",
    "ObservedLevels",
    "PartitionRole",
    "PartsRole",
    "PermutationRole",
    "RandomSource",
    "Requirement",
    "ReshapeRole",
    "Role",
    "Sampler",
    "ShapeRole",
    "Signature",
    "SlicingStepsRole",
    "SpansRole",
    "SpecModel",
    "TensorsRole",
    "WindowsRole",
    "forbid",
    "is_plain_value",
    "levels_where",
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
}
ENTRY_POINT_GROUP = "opcert.roles"


def role_classes() -> dict[str, type[Role]]:
    """Return the role classes by name: those of opcert, and those that installed packages add."""
    installed = {point.name: point.load() for point in entry_points(group=ENTRY_POINT_GROUP)}
    return {**installed, **ROLES}
