"""Writes the files of a suite: packs, indexes, pytest files and the manifest."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from opcert.arrays.calls import Tensor
from opcert.arrays.element_types import (
    ELEMENT_TYPES,
    Array,
    bits_dtype,
    digest_of,
    stored_dtype,
    type_name,
)
from opcert.arrays.golden import allowance_of, alternatives_of
from opcert.arrays.layouts import C_ORDER, Layout
from opcert.arrays.patterns import MAX_STORED_BYTES, PackWriter, is_large, pattern_array, recipe_of
from opcert.cases.case import short_digest
from opcert.cases.vectors import Vector
from opcert.errors import printable_line, visible_text
from opcert.specification.expressions import DocumentedTensor
from opcert.specification.files import SpecFile
from opcert.specification.model import Ambiguity, Rule, Spec
from opcert.suite.format import (
    FORMAT,
    MANIFEST,
    AmbiguityText,
    DigestedArray,
    DocumentText,
    ErratumText,
    GeneratedArray,
    Index,
    IndexedCase,
    InputArray,
    ListedArray,
    Manifest,
    OperatorEntry,
    RuleText,
    StoredAllowance,
    StoredArray,
    content_digest,
    json_file,
)
from opcert.system import FileContents, template_environment

if TYPE_CHECKING:
    from jinja2 import Environment

# An operator's id, its entry in the manifest, and its files.
OperatorPart = tuple[str, OperatorEntry, FileContents]
# Data with so many elements that its recipe does not generate is stored instead.
_MAX_SPECIAL = 16
# The maximum length of a line with a literal in an emitted test.
_LINE_LENGTH = 80
_CASE = TypeAdapter(IndexedCase)


def operator_files(
    spec_file: SpecFile, vectors: Iterable[Vector], stored: int | None = None
) -> OperatorPart:
    """Return an operator's id, its entry in the manifest, and its files by path within the suite.

    `vectors` are consumed one by one, so that memory holds the arrays of one vector only. The pack
    has the arrays of the first `stored` cases, by default of all.
    """
    spec = spec_file.spec
    stem = f"{spec.family}/{spec.slug}"
    pack = _Pack()
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for case in _indexed_cases(spec, vectors, pack, stored):
        lines.append(_CASE.dump_json(case, exclude_defaults=True).decode())
        counts[case.expects] += 1
        counts["ambiguous"] += case.ambiguity is not None
    entry = OperatorEntry(
        spec=spec_file.name,
        spec_version=spec.version,
        spec_sha256=spec_file.digest,
        index=f"{stem}.jsonl.gz",
        pack=f"{stem}.npz",
        tests=f"{spec.family}/test_{spec.slug.replace('-', '_')}.py",
        cases=len(lines),
        rejections=counts["rejection"],
        implementation_defined=counts["ambiguous"],
    )
    facts = _index(spec_file, entry.pack).model_dump_json(exclude_defaults=True)
    index = "".join(f"{line}\n" for line in (facts, *lines))
    files = {
        entry.index: gzip.compress(index.encode(), mtime=0),
        entry.pack: pack.writer.data(),
        entry.tests: _render("test_operator.py.j2", spec_file=spec_file, spec=spec),
    }
    return spec.operator, entry, files


def suite_files(
    profile: str, seed: int, operators: Iterable[OperatorPart]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a suite, the manifest last.

    Only what the manifest states of an operator is kept.
    """
    entries: dict[str, OperatorEntry] = {}
    digests: dict[str, str] = {}
    for operator, entry, files in operators:
        entries[operator] = entry
        digests |= {path: content_digest(path, data) for path, data in files.items()}
        yield from files.items()
        # Free them, which may be large, before the next operator's are made.
        del files
    common = {
        "__init__.py": _render("__init__.py.j2", profile=profile),
        "conftest.py": _render("conftest.py.j2"),
    }
    digests |= {path: content_digest(path, data) for path, data in common.items()}
    manifest = Manifest(
        format=FORMAT,
        profile=profile,
        seed=seed,
        operators=dict(sorted(entries.items())),
        files=dict(sorted(digests.items())),
    )
    yield from {**common, MANIFEST: json_file(manifest)}.items()


def _index(spec_file: SpecFile, pack: str) -> Index:
    """Return the first line of an index, with everything that cases refer to."""
    spec = spec_file.spec

    def text_of(part: Rule | Ambiguity) -> dict[str, Any]:
        errata = (erratum.id for erratum in spec.errata if part.id in erratum.affects)
        return {"clause": part.clause, "text": part.text, "errata": spec.full_ids(*errata)}

    return Index(
        format=FORMAT,
        operator=spec.operator,
        spec=spec_file.name,
        document=DocumentText(**dict(spec.document)),
        pack=pack,
        feature_levels=tuple(level.name for level in spec.feature_levels),
        rules={spec.full_id(rule.id): RuleText(**text_of(rule)) for rule in spec.rules},
        ambiguities={
            spec.full_id(ambiguity.id): AmbiguityText(
                **text_of(ambiguity),
                **dict(ambiguity.readings or ()),
                elements=ambiguity.elements,
            )
            for ambiguity in spec.ambiguities
        },
        errata={
            spec.full_id(erratum.id): ErratumText(
                **erratum.model_dump(include={"clause", "text", "reading"}),
                affects=spec.full_ids(*erratum.affects),
            )
            for erratum in spec.errata
        },
    )


def _indexed_cases(
    spec: Spec, vectors: Iterable[Vector], pack: "_Pack", stored: int | None
) -> Iterator[IndexedCase]:
    """Yield the record of each case, and add the arrays of the first `stored` ones to `pack`."""
    first_input: dict[str | None, tuple[str, int]] = {}
    behaviours = frozenset(spec.full_ids(*spec.behaviours))
    for number, vector in enumerate(vectors):
        case, tensors = vector.case, vector.case.call.inputs
        stem, stores = short_digest(case.id), stored is None or number < stored
        leading = tensors.get(spec.leading_key)
        # A case that omits the first input has the type and rank of its baseline.
        first_input[case.id] = (
            (leading.type, leading.rank) if leading else first_input.get(case.baseline, ("", 0))
        )
        element_type, rank = first_input[case.id]
        yield IndexedCase(
            id=case.id,
            expects="outputs" if case.violated_rule is None else "rejection",
            violated_rule=case.violated_rule,
            baseline=case.baseline,
            change=case.change,
            extra_behaviours=case.extra_behaviours,
            ambiguity=None if case.ambiguity is None else spec.full_id(case.ambiguity),
            open_elements=vector.open_elements and spec.full_id(vector.open_elements),
            example=f"{case.example.clause}: {case.example.text}" if case.example else "",
            rules=tuple(rule for rule in case.rules if case.violated_rule or rule in behaviours),
            feature_levels=case.feature_levels,
            type=element_type,
            rank=rank,
            data_inputs=tuple(name for name, tensor in tensors.items() if tensor.values is None),
            attributes=case.call.attributes,
            inputs={
                name: pack.add_input(f"{stem}/{name}", tensors[name], array, stores=stores)
                for name, array in vector.inputs.items()
            },
            outputs=pack.add_outputs(f"{stem}/output", vector.outputs, stores=stores),
            inverted_data_outputs=pack.add_outputs(
                f"{stem}/inverted_data_output", vector.inverted_data_outputs, stores=stores
            ),
        )
        # Free its arrays, which may be large, before the next vector allocates its own.
        del vector


class _Pack:
    """The arrays of a pack; equal arrays are stored once, under the name of the first one."""

    def __init__(self) -> None:
        self.writer = PackWriter()
        self._names: dict[tuple[object, ...], str] = {}

    def add(self, name: str, array: Array, layout: Layout = C_ORDER) -> StoredArray:
        """Store an array under `name`, unless an equal one is stored, and return its position."""
        element_type = type_name(array.dtype)
        dtype = stored_dtype(element_type)
        key = dtype, array.shape, digest_of(array)
        if key not in self._names:
            self._names[key] = name
            self.writer.add(name, array.view(dtype) if array.dtype != dtype else array)
        stored = self._names[key]
        return StoredArray(
            array=stored,
            type=element_type,
            shape=array.shape,
            offset=self.writer.offsets[stored],
            layout=layout,
        )

    def add_input(self, name: str, tensor: Tensor, array: Array, *, stores: bool) -> InputArray:
        """Store an input, or return its elements, or the recipe that generates it."""
        layout = tensor.layout.of(array)
        if tensor.values is not None:
            if stores or array.nbytes > MAX_STORED_BYTES:
                return self.add(name, array, layout)
            elements = array.tobytes().hex()
            return ListedArray(type=tensor.type, shape=array.shape, bytes=elements, layout=layout)
        if stores and not is_large(tensor):
            return self.add(name, array, layout)
        # Who reads the recipe knows the layout that the array shows, and no other.
        visible = replace(tensor, layout=layout)
        recipe, dtype = recipe_of(visible), bits_dtype(array.dtype)
        bits, generated = (
            elements.reshape(-1).view(dtype) for elements in (array, pattern_array(visible))
        )
        positions = np.flatnonzero(bits != generated).tolist()
        # A neighbour's data may differ in half of its elements.
        if len(positions) > _MAX_SPECIAL:
            return self.add(name, array, layout)
        return GeneratedArray(
            type=tensor.type,
            shape=array.shape,
            seed=recipe.seed,
            stride=recipe.stride,
            special=tuple((position, f"{bits[position]:x}") for position in positions),
            sha256=digest_of(array) if is_large(tensor) else None,
            layout=layout,
        )

    def _add_output(self, name: str, array: Array) -> StoredArray:
        stored = self.add(name, array)
        if (allowance := allowance_of(array)) is not None:
            parts = {
                part: self.add(f"{name}.{part}", getattr(allowance, part))
                for part in ("low", "high", "flags")
            }
            kept = StoredAllowance(arithmetics=allowance.arithmetics, **parts)
            return replace(stored, allowance=kept)
        others = enumerate(alternatives_of(array), 1)
        alternatives = (self.add(f"{name}.{k}", other) for k, other in others)
        return replace(stored, alternatives=tuple(alternatives))

    def add_outputs(
        self, stem: str, outputs: Sequence[Array], *, stores: bool
    ) -> tuple[StoredArray | DigestedArray, ...]:
        """Store outputs, or return the digests of large ones, or of all."""
        return tuple(
            self._add_output(f"{stem}.{i}", array)
            # The reference alone gives neither the alternatives nor the allowance.
            if (stores and array.nbytes <= MAX_STORED_BYTES)
            or alternatives_of(array)
            or allowance_of(array)
            else DigestedArray(
                type=type_name(array.dtype), shape=array.shape, sha256=digest_of(array)
            )
            for i, array in enumerate(outputs)
        )


@cache
def _environment() -> "Environment":
    return template_environment(
        tensor=_tensor_literal, literal=_literal, docstring=_docstring, comment=printable_line
    )


def _render(template: str, **variables: Any) -> bytes:
    return _environment().get_template(template).render(**variables).encode()


def _docstring(text: str) -> str:
    """Return `text` as a Python docstring."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{visible_text(escaped)}"""'


def _tensor_literal(
    documented: DocumentedTensor | tuple[DocumentedTensor, ...], indent: int
) -> str:
    """Return a documented tensor as Python: its elements, or a placeholder for packed ones."""
    if isinstance(documented, tuple):
        inner = " " * (indent + 4)
        parts = (f"{inner}{_tensor_literal(part, indent + 4)},\n" for part in documented)
        return f"[\n{''.join(parts)}{' ' * indent}]"
    packed = f'packed("{documented.type}", {list(documented.shape)})'
    if documented.values is None:
        return packed
    dtype = ELEMENT_TYPES[documented.type]
    nested = np.array(documented.values, dtype).reshape(documented.shape).tolist()
    # Nested lists do not show what follows an extent of 0.
    if np.shape(nested) != documented.shape:
        return packed
    return f'tensor("{documented.type}", {_literal(nested, indent)})'


def _literal(value: Any, indent: int) -> str:
    """Return JSON-like data as Python; long lists have one element per line."""
    one_line = _one_line_literal(value)
    if not isinstance(value, list) or len(one_line) + indent <= _LINE_LENGTH:
        return one_line
    inner, outer = " " * (indent + 4), " " * indent
    lines = [f"{inner}{_literal(element, indent + 4)},\n" for element in value]
    return f"[\n{''.join(lines)}{outer}]"


def _one_line_literal(value: Any) -> str:
    # `repr` would use single quotes; Python formatters prefer double quotes.
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = (f"{_one_line_literal(k)}: {_one_line_literal(v)}" for k, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line_literal, value)) + "]"
    return repr(value)
