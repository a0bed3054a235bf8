"""The format of a suite's manifest and indexes, as they are written and as they are read."""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from opcert.generator.arrays.calls import MOST_DIMENSIONS, MOST_ELEMENTS
from opcert.generator.arrays.element_types import ELEMENT_TYPES
from opcert.generator.arrays.layouts import Layout

FORMAT = 2
MANIFEST = "manifest.json"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TypeName = Annotated[str, Field(pattern=f"^({'|'.join(ELEMENT_TYPES)})$")]
Extent = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """A part of a suite's JSON: immutable, with no keys but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StoredArray(Record):
    """Where an array is: its name in the pack, and where its elements begin in the pack's bytes.

    `layout` is how its elements lie in memory when they are handed over; the pack has C order.
    """

    array: str
    type: TypeName
    shape: tuple[Extent, ...]
    offset: Extent
    layout: Layout = "c"


def _possible(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) > MOST_DIMENSIONS or prod(max(n, 1) for n in shape) > MOST_ELEMENTS:
        raise ValueError(f"up to {MOST_DIMENSIONS} extents and {MOST_ELEMENTS} elements")
    return shape


class MadeArray(Record):
    """An input too large to store: what makes it, and the digest of its elements in C order."""

    type: TypeName
    shape: Annotated[tuple[Extent, ...], AfterValidator(_possible)]
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    sha256: Digest
    layout: Layout = "c"


class DigestedArray(Record):
    """An output too large to store: the digest of its elements in C order."""

    type: TypeName
    shape: tuple[Extent, ...]
    sha256: Digest


class RuleText(Record):
    """What a rule says, in opcert's words, and where the document says it."""

    clause: str
    text: str


class IndexedCase(Record):
    """One case: what it calls, what it expects and why it exists.

    `type` and `rank` are those of the operator's first input, or of the twin's where the case
    leaves it out. The elements of `free` inputs mean nothing to the operator but as data to move.
    """

    id: str
    expects: Literal["outputs", "rejection"]
    rule: str | None = None
    twin: str | None = None
    ambiguity: str | None = None
    why: str
    rules: tuple[str, ...]
    levels: Mapping[str, str] = {}
    feature_levels: tuple[str, ...] = ()
    type: TypeName
    rank: Extent
    free: tuple[str, ...] = ()
    example: bool = False
    attributes: Mapping[str, JsonValue]
    inputs: Mapping[str, StoredArray | MadeArray]
    outputs: tuple[StoredArray | DigestedArray, ...] = ()
    other: tuple[StoredArray | DigestedArray, ...] = ()

    @property
    def index_types(self) -> frozenset[str]:
        """The element types of the inputs behind the first."""
        return frozenset([each.type for each in self.inputs.values()][1:])

    @property
    def input_types(self) -> Mapping[str, str]:
        """The element type of each input by name."""
        return {name: each.type for name, each in self.inputs.items()}


class Index(Record):
    """The cases of one operator and the pack that holds their arrays."""

    format: int
    operator: str
    spec: str
    pack: str
    feature_levels: tuple[str, ...] = ()
    rules: Mapping[str, RuleText]
    cases: tuple[IndexedCase, ...]


class OperatorEntry(Record):
    """What the manifest says of one operator."""

    spec: str
    spec_version: int
    spec_sha256: Digest
    index: str
    pack: str
    tests: str
    cases: Extent
    rejections: Extent
    implementation_defined: Extent


class Manifest(Record):
    """What a suite consists of."""

    format: int
    profile: str
    seed: int
    operators: Mapping[str, OperatorEntry]
    files: Mapping[str, Digest]
