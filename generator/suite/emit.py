"""Vectors -> the files of a suite: packs, indexes, pytest files, manifest."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from operator import itemgetter
from typing import Any

import numpy as np
from jinja2 import Environment

from opcert.generator.arrays.calls import Tensor
from opcert.generator.arrays.element_types import ELEMENT_TYPES, Array, name_of, stored_dtype
from opcert.generator.arrays.layouts import Layout
from opcert.generator.arrays.packs import Pack, pack
from opcert.generator.arrays.patterns import STORED, recipe_of
from opcert.generator.cases.case import Case, digest
from opcert.generator.cases.vectors import Vector
from opcert.generator.specification.files import SpecFile
from opcert.generator.specification.model import DocumentedTensor, Spec
from opcert.generator.suite.format import (
    FORMAT,
    MANIFEST,
    DigestedArray,
    Index,
    IndexedCase,
    MadeArray,
    Manifest,
    OperatorEntry,
    StoredArray,
)
from opcert.generator.suite.index_texts import (
    ambiguity_texts,
    document_text,
    erratum_texts,
    level_words,
    rule_texts,
)
from opcert.generator.template_environment import template_environment

Files = Mapping[str, bytes]
# The longest line of a literal in an emitted test.
_LINE = 80


def operator_files(
    spec_file: SpecFile, vectors: Sequence[Vector], profile: str
) -> tuple[OperatorEntry, Files]:
    """Return one operator's entry in the manifest, and its files by path within the suite."""
    spec = spec_file.spec
    stem = f"{spec.family}/{spec.slug}"
    tests = f"{spec.family}/test_{spec.slug.replace('-', '_')}.py"
    names, arrays = _named_arrays(vectors)
    packed = pack(arrays)
    index = Index(
        format=FORMAT,
        operator=spec.operator,
        spec=spec_file.name,
        document=document_text(spec),
        pack=f"{stem}.npz",
        feature_levels=tuple(level.name for level in spec.feature_levels),
        rules=rule_texts(spec),
        ambiguities=ambiguity_texts(spec),
        errata=erratum_texts(spec),
        words=level_words(spec, profile),
        cases=_indexed_cases(spec, vectors, names, packed),
    )
    entry = OperatorEntry(
        spec=spec_file.name,
        spec_version=spec.version,
        spec_sha256=spec_file.digest,
        index=f"{stem}.json",
        pack=f"{stem}.npz",
        tests=tests,
        cases=len(vectors),
        rejections=sum(vector.case.rejects is not None for vector in vectors),
        implementation_defined=sum(vector.case.ambiguity is not None for vector in vectors),
    )
    written = {
        entry.index: _index_text(index).encode(),
        entry.pack: packed.data,
        entry.tests: _render("test_operator.py.j2", spec_file=spec_file, spec=spec).encode(),
    }
    return entry, written


def suite_files(
    profile: str, seed: int, operators: Sequence[tuple[str, OperatorEntry, Files]]
) -> Files:
    """Return every file of a suite by path, the manifest with the digests of the others."""
    written = {
        "__init__.py": _render("__init__.py.j2", profile=profile).encode(),
        "conftest.py": _render("conftest.py.j2").encode(),
    }
    for _, _, files in operators:
        written |= files
    manifest = Manifest(
        format=FORMAT,
        profile=profile,
        seed=seed,
        operators={name: entry for name, entry, _ in sorted(operators, key=itemgetter(0))},
        files={name: sha256(data).hexdigest() for name, data in sorted(written.items())},
    )
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    return {**written, MANIFEST: text.encode()}


def _named_arrays(vectors: Sequence[Vector]) -> tuple[dict[int, str], dict[str, Array]]:
    """Name each array after the id of the first case that has one with its elements.

    Arrays of the same elements are stored once.
    """
    names: dict[int, str] = {}
    arrays: dict[str, Array] = {}
    first: dict[tuple[object, ...], str] = {}
    for vector in vectors:
        case = digest(vector.case.id)
        tensors = vector.case.call.inputs
        given = {
            f"{case}/{name}": array
            for name, array in vector.inputs.items()
            if recipe_of(tensors[name]) is None
        }
        parts = [
            *given.items(),
            *((f"{case}/output.{i}", array) for i, array in enumerate(vector.outputs)),
            *((f"{case}/other.{i}", array) for i, array in enumerate(vector.other)),
        ]
        for name, array in parts:
            if id(array) not in names and (array.nbytes <= STORED or name in given):
                stored = stored_dtype(name_of(array.dtype))
                key = stored, array.shape, array.tobytes()
                names[id(array)] = first.setdefault(key, name)
                if names[id(array)] == name:
                    arrays[name] = array.view(stored) if array.dtype != stored else array
    return names, arrays


def _indexed_cases(
    spec: Spec, vectors: Sequence[Vector], names: Mapping[int, str], packed: Pack
) -> tuple[IndexedCase, ...]:
    indexed: dict[str, IndexedCase] = {}
    for vector in vectors:
        case, tensors = vector.case, vector.case.call.inputs
        twin = indexed.get(case.twin or "")
        leading = tensors.get(spec.leading.name)
        indexed[case.id] = IndexedCase(
            id=case.id,
            expects="outputs" if case.rejects is None else "rejection",
            rule=case.rejects,
            twin=case.twin,
            ambiguity=case.ambiguity,
            why=f"{case.example.clause}: {case.example.text}" if case.example else "",
            rules=_told(spec, case),
            levels=case.levels,
            feature_levels=case.feature_levels,
            type=leading.type if leading else twin.type if twin else "",
            rank=leading.rank if leading else twin.rank if twin else 0,
            free=tuple(name for name, tensor in tensors.items() if tensor.values is None),
            example=case.example is not None,
            attributes=case.call.attributes,
            inputs={
                name: _input(tensors[name], array, names, packed)
                for name, array in vector.inputs.items()
            },
            outputs=tuple(_output(array, names, packed) for array in vector.outputs),
            other=tuple(_output(array, names, packed) for array in vector.other),
        )
    return tuple(indexed.values())


def _told(spec: Spec, case: Case) -> tuple[str, ...]:
    """Return the rules that a case tells of: the one it breaks, or the behaviours it shows."""
    shown = set(map(spec.full_id, spec.behaviours))
    return tuple(rule for rule in case.rules if case.rejects or rule in shown)


def _input(
    tensor: Tensor, array: Array, names: Mapping[int, str], packed: Pack
) -> StoredArray | MadeArray:
    seed = recipe_of(tensor)
    if seed is None:
        return _stored(array, tensor.layout, names, packed)
    return MadeArray(
        type=tensor.type,
        shape=array.shape,
        seed=seed,
        sha256=sha256(array.tobytes()).hexdigest(),
        layout=tensor.layout,
    )


def _output(array: Array, names: Mapping[int, str], packed: Pack) -> StoredArray | DigestedArray:
    if id(array) in names:
        return _stored(array, "c", names, packed)
    digest = sha256(array.tobytes()).hexdigest()
    return DigestedArray(type=name_of(array.dtype), shape=array.shape, sha256=digest)


def _stored(array: Array, layout: Layout, names: Mapping[int, str], packed: Pack) -> StoredArray:
    name = names[id(array)]
    return StoredArray(
        array=name,
        type=name_of(array.dtype),
        shape=array.shape,
        offset=packed.offsets[name],
        layout=layout,
    )


def _index_text(index: Index) -> str:
    """Write the index with each case on a line of its own."""
    head = index.model_dump(exclude={"cases"}, exclude_defaults=True, mode="json")
    cases = [case.model_dump(mode="json", exclude_defaults=True) for case in index.cases]
    lines = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in cases]
    return (
        json.dumps(head, indent=1, ensure_ascii=False)[:-2]
        + ',\n "cases": [\n  '
        + ",\n  ".join(lines)
        + "\n ]\n}\n"
    )


@cache
def _environment() -> Environment:
    environment = template_environment()
    environment.filters["tensor"] = _tensor_literal
    environment.filters["literal"] = _literal
    environment.filters["docstring"] = _docstring
    return environment


def _render(template: str, **names: Any) -> str:
    return _environment().get_template(template).render(**names)


def _docstring(text: str) -> str:
    """Write `text` as a docstring, whatever quotes it has."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{escaped}"""'


def _tensor_literal(documented: DocumentedTensor, indent: int) -> str:
    """Write a documented tensor: its elements nested by dimension, or that the pack has them."""
    if documented.values is None:
        return f'packed("{documented.type}", {list(documented.shape)})'
    dtype = ELEMENT_TYPES[documented.type]
    nested = np.array(documented.values, dtype).reshape(documented.shape).tolist()
    return f'tensor("{documented.type}", {_literal(nested, indent)})'


def _literal(value: Any, indent: int) -> str:
    """Write plain data as Python, a long list with one element a line."""
    flat = _python(value)
    if not isinstance(value, list) or len(flat) + indent <= _LINE:
        return flat
    inner, outer = " " * (indent + 4), " " * indent
    lines = [f"{inner}{_literal(each, indent + 4)},\n" for each in value]
    return f"[\n{''.join(lines)}{outer}]"


def _python(value: Any) -> str:
    """Write plain data as Python with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_python(k)}: {_python(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_python, value)) + "]"
    return repr(value)
