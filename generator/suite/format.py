"""The format of a suite's manifest and indexes, as they are written and as they are read."""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
)

from opcert.arrays import ELEMENT_TYPES, MAX_DIMENSIONS, MAX_ELEMENTS, Layout

FORMAT = 4
MANIFEST = "manifest.json"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TypeName = Annotated[str, Field(pattern=f"^({'|'.join(ELEMENT_TYPES)})$")]
Extent = Annotated[int, Field(ge=0)]


class StrictModel(BaseModel):
    """A part of a suite's JSON: immutable, with no keys but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StoredArray(StrictModel):
    """Where an array is: its name in the pack, and where its elements begin in the pack's bytes.

    `layout` is how its elements lie in memory when they are handed over; the pack has C order.
    """

    array: str
    type: TypeName
    shape: tuple[Extent, ...]
    offset: Extent
    layout: Layout = "c"


def _possible(shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) > MAX_DIMENSIONS or prod(max(n, 1) for n in shape) > MAX_ELEMENTS:
        raise ValueError(f"up to {MAX_DIMENSIONS} extents and {MAX_ELEMENTS} elements")
    return shape


class GeneratedArray(StrictModel):
    """An input too large to store: what makes it, and the digest of its elements in C order."""

    type: TypeName
    shape: Annotated[tuple[Extent, ...], AfterValidator(_possible)]
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    sha256: Digest
    layout: Layout = "c"


class DigestedArray(StrictModel):
    """An output too large to store: the digest of its elements in C order."""

    type: TypeName
    shape: tuple[Extent, ...]
    sha256: Digest


class DocumentText(StrictModel):
    """The document that the cases rest on, with the digest of its text where that is recorded."""

    title: str
    version: str
    language: str
    sha256: Digest | None = None


class RuleText(StrictModel):
    """What a violated_rule says, in opcert's factors, and where; `errata` are those that affect it."""

    clause: str
    text: str
    errata: tuple[str, ...] = ()


class AmbiguityText(StrictModel):
    """What the document leaves open, with an argument for either reading: valid, or invalid.

    Which of them the reference takes, a case says itself: `expects`.
    """

    clause: str
    text: str
    valid: str
    invalid: str
    errata: tuple[str, ...] = ()


class ErratumText(StrictModel):
    """Where the document contradicts itself, how it is read, and what rests on the reading."""

    clause: str
    text: str
    reading: str
    affects: tuple[str, ...]


def _remembered(factors: Mapping[str, object], info: ValidationInfo) -> Mapping[str, object]:
    """Keep the factors, which the cases behind them have levels of."""
    if info.context is not None:
        info.context["factors"] = [*factors]
    return factors


def _by_factor(levels: Any, info: ValidationInfo) -> Any:
    """Return the levels by factor, where a file lists their names alone."""
    if not isinstance(levels, list) or info.context is None:
        return levels
    factors = info.context.get("factors", [])
    if len(levels) != len(factors):
        raise ValueError(f"a level of each of the {len(factors)} factors")
    return dict(zip(factors, levels, strict=True))


class IndexedCase(StrictModel):
    """One case: what it calls, what it expects and why it exists.

    A file lists the names of its `levels` alone, in the order in which the index has the factors.

    `why` is what the document says of an example. Any inverted_data_outputs case exists for its `levels`, or for
    the change that tells it from its `baseline`; `extra_behaviours` are the behaviours that a call to be rejected
    would show and its baseline does not. `type` and `rank` are those of the operator's first
    input, or of the baseline's where the case leaves it out. The elements of `data_inputs` inputs mean nothing
    to the operator but as data to move.
    """

    id: str
    expects: Literal["outputs", "rejection"]
    violated_rule: str | None = None
    baseline: str | None = None
    extra_behaviours: tuple[str, ...] = ()
    ambiguity: str | None = None
    why: str = ""
    rules: tuple[str, ...]
    levels: Annotated[Mapping[str, str], BeforeValidator(_by_factor)] = {}
    feature_levels: tuple[str, ...] = ()
    type: TypeName
    rank: Extent
    data_inputs: tuple[str, ...] = ()
    example: bool = False
    attributes: Mapping[str, JsonValue]
    inputs: Mapping[str, StoredArray | GeneratedArray]
    outputs: tuple[StoredArray | DigestedArray, ...] = ()
    inverted_data_outputs: tuple[StoredArray | DigestedArray, ...] = ()

    @property
    def index_types(self) -> frozenset[str]:
        """The element types of the inputs behind the first."""
        return frozenset([each.type for each in self.inputs.values()][1:])

    @property
    def input_types(self) -> Mapping[str, str]:
        """The element type of each input by name."""
        return {name: each.type for name, each in self.inputs.items()}


class Index(StrictModel):
    """The cases of one operator, the pack that holds their arrays, and what the cases rest on.

    `factors` are what a sentence calls the levels of each factor, nothing where one is not worth it.
    """

    format: int
    operator: str
    spec: str
    document: DocumentText
    pack: str
    feature_levels: tuple[str, ...] = ()
    rules: Mapping[str, RuleText]
    ambiguities: Mapping[str, AmbiguityText] = {}
    errata: Mapping[str, ErratumText] = {}
    factors: Annotated[Mapping[str, Mapping[str, str]], AfterValidator(_remembered)] = {}
    cases: tuple[IndexedCase, ...]


class OperatorEntry(StrictModel):
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


class Manifest(StrictModel):
    """What a suite consists of."""

    format: int
    profile: str
    seed: int
    operators: Mapping[str, OperatorEntry]
    files: Mapping[str, Digest]
