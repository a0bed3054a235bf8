"""Vectors -> the files of a suite: packs, indexes, pytest files, manifest."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from operator import itemgetter
from typing import Any

import numpy as np
from jinja2 import Environment

from opcert.arrays import (
    ELEMENT_TYPES,
    MAX_STORED_BYTES,
    Array,
    Layout,
    PackWriter,
    Tensor,
    recipe_seed,
    stored_dtype,
    type_name,
)
from opcert.cases import Case, Vector, short_digest
from opcert.specification import DocumentedTensor, Spec, SpecFile
from opcert.suite.format import (
    FORMAT,
    MANIFEST,
    DigestedArray,
    GeneratedArray,
    Index,
    IndexedCase,
    Manifest,
    OperatorEntry,
    StoredArray,
)
from opcert.suite.index_texts import (
    ambiguity_texts,
    document_text,
    erratum_texts,
    level_words,
    rule_texts,
)
from opcert.template_environment import template_environment

FileContents = Mapping[str, bytes]
# The longest line of a literal in an emitted test.
_LINE = 80


def operator_files(
    spec_file: SpecFile, vectors: Iterable[Vector], profile: str
) -> tuple[OperatorEntry, FileContents]:
    """Return one operator's entry in the manifest, and its files by path within the suite.

    Of `vectors`, one at a time is needed.
    """
    spec = spec_file.spec
    stem = f"{spec.family}/{spec.slug}"
    tests = f"{spec.family}/test_{spec.slug.replace('-', '_')}.py"
    arrays = _Arrays()
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for case in _indexed_cases(spec, vectors, arrays):
        lines.append(_line(case))
        counts[case.expects] += 1
        counts["ambiguous"] += case.ambiguity is not None
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
        factors=level_words(spec, profile),
        cases=(),
    )
    entry = OperatorEntry(
        spec=spec_file.name,
        spec_version=spec.version,
        spec_sha256=spec_file.digest,
        index=f"{stem}.json",
        pack=f"{stem}.npz",
        tests=tests,
        cases=len(lines),
        rejections=counts["rejection"],
        implementation_defined=counts["ambiguous"],
    )
    written = {
        entry.index: _index_text(index, lines).encode(),
        entry.pack: arrays.writer.pack().data,
        entry.tests: _render("test_operator.py.j2", spec_file=spec_file, spec=spec).encode(),
    }
    return entry, written


def suite_files(
    profile: str, seed: int, operators: Sequence[tuple[str, OperatorEntry, FileContents]]
) -> FileContents:
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


class _Arrays:
    """The arrays of a pack, each named after the first case that has one with its elements."""

    def __init__(self) -> None:
        self.writer = PackWriter()
        self._names: dict[tuple[object, ...], str] = {}

    def stored(self, name: str, array: Array, layout: Layout) -> StoredArray:
        """Return where the elements of `array` are stored: under `name` unless they were before."""
        element_type = type_name(array.dtype)
        dtype = stored_dtype(element_type)
        key = dtype, array.shape, sha256(array.tobytes()).digest()
        if key not in self._names:
            self._names[key] = name
            self.writer.add(name, array.view(dtype) if array.dtype != dtype else array)
        name = self._names[key]
        offset = self.writer.offsets[name]
        return StoredArray(
            array=name, type=element_type, shape=array.shape, offset=offset, layout=layout
        )


def _indexed_cases(spec: Spec, vectors: Iterable[Vector], arrays: _Arrays) -> Iterator[IndexedCase]:
    # By case, the type and rank of its leading input.
    leads: dict[str | None, tuple[str, int]] = {}
    behaviours = frozenset(spec.full_ids(*spec.behaviours))
    for vector in vectors:
        case, tensors = vector.case, vector.case.call.inputs
        stem = short_digest(case.id)
        leading = tensors.get(spec.leading.name)
        leads[case.id] = (
            (leading.type, leading.rank) if leading else leads.get(case.baseline, ("", 0))
        )
        yield IndexedCase(
            id=case.id,
            expects="outputs" if case.violated_rule is None else "rejection",
            violated_rule=case.violated_rule,
            baseline=case.baseline,
            extra_behaviours=case.extra_behaviours,
            ambiguity=case.ambiguity,
            why=f"{case.example.clause}: {case.example.text}" if case.example else "",
            rules=_told(behaviours, case),
            levels=case.levels,
            feature_levels=case.feature_levels,
            type=leads[case.id][0],
            rank=leads[case.id][1],
            data_inputs=tuple(name for name, tensor in tensors.items() if tensor.values is None),
            example=case.example is not None,
            attributes=case.call.attributes,
            inputs={
                name: _input(tensors[name], f"{stem}/{name}", array, arrays)
                for name, array in vector.inputs.items()
            },
            outputs=_outputs(f"{stem}/output", vector.outputs, arrays),
            inverted_data_outputs=_outputs(f"{stem}/other", vector.inverted_data_outputs, arrays),
        )
        # Its arrays may be large, and the next vector's are about to be made.
        del vector


def _told(behaviours: Collection[str], case: Case) -> tuple[str, ...]:
    """Return the rules that a case tells of: the one it breaks, or the behaviours it shows."""
    return tuple(rule for rule in case.rules if case.violated_rule or rule in behaviours)


def _input(
    tensor: Tensor, name: str, array: Array, arrays: _Arrays
) -> StoredArray | GeneratedArray:
    seed = recipe_seed(tensor)
    if seed is None:
        return arrays.stored(name, array, tensor.layout)
    return GeneratedArray(
        type=tensor.type,
        shape=array.shape,
        seed=seed,
        sha256=sha256(array.tobytes()).hexdigest(),
        layout=tensor.layout,
    )


def _outputs(
    name: str, outputs: Sequence[Array], arrays: _Arrays
) -> tuple[StoredArray | DigestedArray, ...]:
    return tuple(
        arrays.stored(f"{name}.{i}", array, "c")
        if array.nbytes <= MAX_STORED_BYTES
        else DigestedArray(
            type=type_name(array.dtype),
            shape=array.shape,
            sha256=sha256(array.tobytes()).hexdigest(),
        )
        for i, array in enumerate(outputs)
    )


def _line(case: IndexedCase) -> str:
    written = case.model_dump(mode="json", exclude_defaults=True)
    if case.levels:
        # The index names the factors, in this order.
        written["levels"] = [*case.levels.values()]
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def _index_text(index: Index, lines: Sequence[str]) -> str:
    """Write an index with `lines` for its cases."""
    head = index.model_dump(exclude={"cases"}, exclude_defaults=True, mode="json")
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    return text + ',\n "cases": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


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
