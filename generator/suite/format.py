"""The JSON format of a suite: its manifest, and an index of each operator with a case on a line."""

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache, partial
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic.dataclasses import dataclass

from opcert.arrays.calls import argument_of
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.arrays.tensor_functions import MAX_DIMENSIONS, MAX_ELEMENTS
from opcert.cases.case import Change
from opcert.errors import SuiteError
from opcert.settings import PROFILES
from opcert.system import read_limited
from opcert.yaml_files import describe_first_error

FORMAT = 10
# Ten times the size of the largest pack of the stress profile.
MAX_FILE_BYTES = 1 << 30
MANIFEST = "manifest.json"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TypeName = Annotated[str, Field(pattern=f"^({'|'.join(ELEMENT_TYPES)})$")]
Extent = Annotated[int, Field(ge=0)]


class StrictModel(BaseModel):
    """An immutable object of JSON or YAML; it allows no unknown keys and converts no values."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def content_of(name: str, data: bytes) -> bytes:
    """Return the content of a file of a suite, which is compressed if its `name` ends with .gz.

    Raises:
        ValueError: it is damaged, or larger than opcert reads.
    """
    if not name.endswith(".gz"):
        return data
    # As gzip.decompress, but a damaged file must not fill the memory.
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = reader.decompress(data, MAX_FILE_BYTES)
    except zlib.error as error:
        raise ValueError(f"not gzip: {error}") from None
    if not reader.eof or reader.unused_data:
        raise ValueError(f"not one gzip stream of up to {MAX_FILE_BYTES >> 20} MiB")
    return content


def content_digest(name: str, data: bytes) -> str:
    """Return the SHA-256 of the content of a file: its compressed bytes depend on the library.

    Raises:
        ValueError: it is damaged.
    """
    return sha256(content_of(name, data)).hexdigest()


def json_file(model: StrictModel) -> bytes:
    """Return the content of a JSON file."""
    text = json.dumps(model.model_dump(mode="json"), indent=1, ensure_ascii=False)
    return f"{text}\n".encode()


@lru_cache(maxsize=1 << 16)
def _shared(value: Any) -> Any:
    """Return one object for equal values: thousands of cases have few distinct ones."""
    return value


@lru_cache(maxsize=1 << 16)
def _checked_shape(shape: tuple[int, ...], most: int = 1 << 48) -> tuple[int, ...]:
    """Check a shape, and return one object for equal shapes."""
    # NumPy has no arrays of more dimensions or elements, not even without elements.
    if len(shape) > MAX_DIMENSIONS or prod(max(extent, 1) for extent in shape) > most:
        raise ValueError(f"up to {MAX_DIMENSIONS} extents and {most} elements")
    return shape


# The shape of an array, which may be too large for memory.
Shape = Annotated[tuple[Extent, ...], AfterValidator(_checked_shape)]
Names = Annotated[tuple[str, ...], AfterValidator(_shared)]
Name = Annotated[str, AfterValidator(_shared)]
# A model would need twice the memory, for it keeps a dictionary and a set of its fields.
_CONFIG = ConfigDict(extra="forbid", strict=True)
# A damaged index must not make opcert allocate all memory.
_SmallShape = Annotated[Shape, AfterValidator(partial(_checked_shape, most=MAX_ELEMENTS))]
# No object matches two classes, so the others need not be tried.
_FIRST_MATCH = Field(union_mode="left_to_right")


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class StoredArray:
    """An array in the pack: its name in the pack, and the byte offset of its elements.

    The pack stores elements in C order; `layout` is the memory layout that a backend receives. An
    element of an output may also be that of one of the `alternatives`, which have its type and
    shape: they differ where the document leaves elements open. A computed output has an
    `allowance`.
    """

    array: Annotated[str, Field(pattern=r"^[A-Za-z0-9_./\[\]-]+$")]
    type: TypeName
    shape: Shape
    offset: Extent
    layout: Layout = C_ORDER
    alternatives: "tuple[StoredArray, ...]" = ()
    allowance: "StoredAllowance | None" = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class StoredAllowance:
    """What arithmetics allow of a computed output.

    `low` and `high` have the least and the greatest element, with an axis of `arithmetics` before
    those of the output. `flags` have one byte for each element.
    """

    arithmetics: Names
    low: StoredArray
    high: StoredArray
    flags: StoredArray


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class ListedArray:
    """A short input in the index: its elements as a pack would have them, in hexadecimal digits."""

    type: TypeName
    shape: _SmallShape
    bytes: Annotated[str, Field(pattern=r"^([0-9a-f]{2})*$")]
    layout: Layout = C_ORDER


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class GeneratedArray:
    """Data that a recipe generates, but for some elements.

    Along the `repeated` axes of its layout, the elements that the recipe gives are repeated.
    `special` are positions in C order and the bits of the elements there, in hexadecimal digits.
    `sha256` is the digest of the elements in C order, given where there are many.
    """

    type: TypeName
    shape: _SmallShape
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    stride: Annotated[int, Field(ge=0, lt=1 << 64)] | None = None
    special: tuple[tuple[Extent, Annotated[str, Field(pattern=r"^[0-9a-f]{1,16}$")]], ...] = ()
    sha256: Digest | None = None
    layout: Layout = C_ORDER


# An input in one of the forms that an index has for it.
InputArray = StoredArray | ListedArray | GeneratedArray


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class DigestedArray:
    """An output that is not stored: the SHA-256 of its elements in C order."""

    type: TypeName
    shape: Shape
    sha256: Digest


class DocumentText(StrictModel):
    """The operator document, with the SHA-256 and the source of its text if the spec has them."""

    title: str
    version: str
    language: str
    sha256: Digest | None = None
    source: str | None = None


class RuleText(StrictModel):
    """The clause and the paraphrased text of a rule, and the ids of errata that affect it."""

    clause: str
    text: str
    errata: tuple[str, ...] = ()


class AmbiguityText(StrictModel):
    """A question that the document leaves open, with an argument for either reading of the call.

    The reading of the reference is in the `expects` of each case. If the document only leaves open
    some elements of the outputs, `elements` says which they are, and what they may be.
    """

    clause: str
    text: str
    valid: str = ""
    invalid: str = ""
    elements: str = ""
    errata: tuple[str, ...] = ()


class ErratumText(StrictModel):
    """A contradiction in the document, opcert's reading of it, and the ids that it affects."""

    clause: str
    text: str
    reading: str
    affects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class IndexedCase:
    """A case in an index: its call, its expectation and its purpose.

    Attributes:
        violated_rule: The requirement that an invalid call violates.
        baseline: The valid case from which this case differs in one `change`.
        extra_behaviours: Behaviours of an invalid call that its baseline does not exhibit.
        ambiguity: The ambiguity that the call touches; such a case is never decisive.
        open_elements: The ambiguity that leaves some elements of the outputs open; all others are
            decisive.
        example: The clause and the description of a documented example.
        rules: The violated rule, or the behaviours that the call exhibits.
        type: The element type of the first input, or of the baseline's where the case omits it.
        rank: The rank of the same input.
        data_inputs: Inputs whose elements the operator only moves.
        inverted_data_outputs: The golden outputs for inverted data inputs, if they differ from the
            inverted `outputs`.
    """

    id: str
    expects: Literal["outputs", "rejection"]
    violated_rule: Name | None = None
    baseline: str | None = None
    change: Change | None = None
    extra_behaviours: Names = ()
    ambiguity: Name | None = None
    open_elements: Name | None = None
    example: str = ""
    rules: Names
    feature_levels: Names = ()
    type: TypeName
    rank: Extent
    data_inputs: Names = ()
    attributes: Mapping[str, JsonValue]
    inputs: Mapping[Name, Annotated[InputArray, _FIRST_MATCH]]
    outputs: tuple[Annotated[StoredArray | DigestedArray, _FIRST_MATCH], ...] = ()
    inverted_data_outputs: tuple[Annotated[StoredArray | DigestedArray, _FIRST_MATCH], ...] = ()

    @property
    def index_types(self) -> frozenset[str]:
        """The element types of all inputs but the first, which may be variadic."""
        return index_types_of({key: array.type for key, array in self.inputs.items()})

    @property
    def input_types(self) -> Mapping[str, str]:
        """The element type of each input by name; of a variadic one that of its first tensor.

        An attribute that names a type counts as an input of this type.
        """
        types = {key: array.type for key, array in self.inputs.items()}
        return input_types_of(types, self.attributes)


def index_types_of(types: Mapping[str, str]) -> frozenset[str]:
    """Return the types of inputs but those of the first argument, given those of all tensors."""
    first = argument_of(next(iter(types), ""))
    return frozenset(of_tensor for key, of_tensor in types.items() if argument_of(key) != first)


def input_types_of(types: Mapping[str, str], attributes: Mapping[str, object]) -> dict[str, str]:
    """Return the type of each input, given those of all tensors, and the types that are named."""
    named = {key: v for key, v in attributes.items() if isinstance(v, str) and v in ELEMENT_TYPES}
    for key, of_tensor in types.items():
        named.setdefault(argument_of(key), of_tensor)
    return named


class Index(StrictModel):
    """The first line of an index: the operator, facts of its document, and the pack.

    Each line that follows is an `IndexedCase`.
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


class OperatorEntry(StrictModel):
    """An operator in the manifest: its spec, the paths of its files, and its numbers of cases.

    `rejections` counts the cases that expect a rejection, `implementation_defined` the cases that
    touch an ambiguity.
    """

    spec: str
    spec_version: int
    spec_sha256: Digest
    index: str
    pack: str
    tests: str
    cases: Extent
    rejections: Extent
    implementation_defined: Extent


class SuiteEntry(StrictModel):
    """A suite in a certificate: profile, seed, digest, number of cases, and its specs' digests."""

    version: int
    profile: str
    seed: int
    digest: Digest
    cases: Extent
    specs: Mapping[str, Digest]


class Manifest(StrictModel):
    """The manifest of a suite: how it was generated, its operators, and the digest of each file."""

    format: int
    profile: str
    seed: int
    operators: Mapping[str, OperatorEntry]
    files: Mapping[str, Digest]

    @property
    def is_large(self) -> bool:
        """Whether calls are drawn with tensors of up to 2^22 elements."""
        return self.profile in PROFILES and PROFILES[self.profile].large


Model = TypeVar("Model", Index, Manifest)


def inconsistent_suite(path: Path, text: str) -> SuiteError:
    """Return the error for a file that contradicts itself or the rest of its suite."""
    return SuiteError(f"{path}: {text}; generate the suite again")


def read_file(path: Path) -> bytes:
    """Return the content of a file of a suite.

    Raises:
        SuiteError: it cannot be read.
    """
    try:
        return read_limited(path, MAX_FILE_BYTES)
    except (OSError, ValueError) as error:
        raise SuiteError(
            f"{path}: {getattr(error, 'strerror', None) or error}; expected a folder that "
            "`opcert generate` wrote"
        ) from None


def parse_file(path: Path, text: bytes, model: type[Model]) -> Model:
    """Return the model in a file of a suite.

    Raises:
        SuiteError: the file is damaged or of another format.
    """
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise inconsistent_suite(path, f"not JSON: {error}") from None
    # A file of another format has other keys, so its format is the better explanation.
    version = data.get("format") if isinstance(data, dict) else None
    if version != FORMAT:
        raise SuiteError(
            f"{path}: found format {str(version)[:60]}, expected {FORMAT}; generate the suite "
            "again, or use the version of opcert that wrote it"
        )
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise inconsistent_suite(path, describe_first_error(error)) from None
