"""Suites in the formats of others: folders of ONNX's backend tests, and files of safetensors."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from opcert.arrays.element_types import FOUR_BIT_TYPES, Array, bits_of, type_name
from opcert.arrays.golden import allowance_of, alternatives_of
from opcert.errors import OpcertError, listed
from opcert.suite.format import MANIFEST, content_digest
from opcert.suite.suite import Suite, SuiteCase

# How many cases or arrays a format leaves out, by operator and reason.
LeftOut = Counter[tuple[str, str]]
Files = Iterator[tuple[str, bytes]]
# The format that opcert reads itself.
SUITE = "suite"
# The most bytes of an array in a file of safetensors.
MAX_ARRAY_BYTES = 1 << 20


def check_format(name: str) -> None:
    """Check that suites can be written in a format.

    Raises:
        OpcertError: the format is unknown, or the package that writes it is missing.
    """
    if name == SUITE:
        return
    if name not in FORMATS:
        known = listed([SUITE, *FORMATS], "or")
        raise OpcertError(f"unknown format '{name}'; expected {known}")
    package, _ = FORMATS[name]
    if find_spec(package) is None:
        raise OpcertError(
            f"the format {name} needs the package {package}; pip install 'opcert[{package}]'"
        )


def files_in_format(
    name: str, suite_files: Iterable[tuple[str, bytes]], specs: Path | None, left_out: list[str]
) -> Files:
    """Yield the path and the content of each file of a suite in a format, the manifest last.

    `specs` is the folder of the suite's specs, by default opcert's own. At the end, `left_out` gets
    a line for each reason for which the format lacks cases or arrays.

    Raises:
        OpcertError: the format can hold none of the cases.
    """
    _, convert = FORMATS[name]
    counts: LeftOut = Counter()
    yield from convert(Suite(Path("the generated suite"), specs, dict(suite_files)), counts)
    # The most frequent reason of each operator first.
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))
    left_out += [f"{operator}: left out {n:,}: {reason}" for (operator, reason), n in ordered]


def _onnx_tests(suite: Suite, left_out: LeftOut) -> Files:
    """Yield the tests of ONNX in `FAMILY/SLUG/test_CASE`, and a manifest with their digests."""
    digests: dict[str, str] = {}
    for case in suite:
        try:
            files = _onnx_test(case)
        except NotImplementedError as error:
            left_out[case.operator, str(error)] += 1
            continue
        # ONNX's runner accepts no other beginning of a name.
        folder = f"{_stem(suite, case.operator)}/test_{case.id.replace('/', '_')}"
        for name, data in files.items():
            digests[f"{folder}/{name}"] = content_digest(name, data)
            yield f"{folder}/{name}", data
    if not digests:
        raise OpcertError(
            f"ONNX can express no case of {', '.join(suite.operators)}: "
            f"{'; '.join(dict.fromkeys(reason for _, reason in left_out))}; select others by "
            "--operator"
        )
    manifest = {
        "format": "onnx-backend-test",
        "profile": suite.manifest.profile,
        "seed": suite.manifest.seed,
        "files": digests,
    }
    yield MANIFEST, f"{json.dumps(manifest, indent=1)}\n".encode()


def _onnx_test(case: SuiteCase) -> dict[str, bytes]:
    # Only here, since it needs an extra.
    from opcert.backends.onnx_nodes import files_of_test  # noqa: PLC0415

    if case.ambiguity or case.record.open_elements:
        raise NotImplementedError("the document leaves the outputs open")
    if case.expects == "rejection":
        raise NotImplementedError("the call must be rejected")
    if any(allowance_of(output) is not None for output in case.outputs):
        raise NotImplementedError("the format has one tolerance, and no bounds of elements")
    return files_of_test(case.operator, case.inputs, case.attributes, case.outputs, case.rules)


def _with_safetensors(suite: Suite, left_out: LeftOut) -> Files:
    """Yield the files of a suite, and for each index the arrays in a file of safetensors."""
    from safetensors.numpy import save  # noqa: PLC0415 - an extra

    for name in suite.operators:
        arrays: dict[str, Array] = {}
        as_bits: dict[str, str] = {}
        for key, array in _arrays(suite, name):
            if array.nbytes > MAX_ARRAY_BYTES:
                left_out[name, f"arrays of more than {MAX_ARRAY_BYTES >> 20} MiB"] += 1
            elif (element_type := type_name(array.dtype)) in FOUR_BIT_TYPES:
                arrays[key], as_bits[key] = bits_of(array), element_type
            else:
                arrays[key] = np.asarray(array, order="C")
        facts = {"operator": name, "index": f"{_stem(suite, name)}.jsonl.gz", "as_bits": as_bits}
        # One entry: the library orders several at random.
        yield f"{_stem(suite, name)}.safetensors", save(arrays, {"opcert": json.dumps(facts)})
    yield from (suite.files or {}).items()


def _arrays(suite: Suite, operator: str) -> Iterator[tuple[str, Array]]:
    """Yield the inputs and the golden outputs of each case, in C order."""
    operator_suite = suite.operators[operator]
    for case in operator_suite.cases.values():
        for name, array in operator_suite.elements(case).items():
            yield f"{case.id}/inputs/{name}", array
        for k, output in enumerate(operator_suite.outputs(case)):
            yield f"{case.id}/outputs/{k}", output
            for i, alternative in enumerate(alternatives_of(output)):
                yield f"{case.id}/outputs/{k}/alternatives/{i}", alternative
            if (allowance := allowance_of(output)) is not None:
                for part in ("low", "high", "flags"):
                    yield f"{case.id}/outputs/{k}/{part}", getattr(allowance, part)


def _stem(suite: Suite, operator: str) -> str:
    """Return the path of an operator's files without their endings."""
    return suite.manifest.operators[operator].index.removesuffix(".jsonl.gz")


# The package that writes each format, which is also the name of the extra, and what it writes.
FORMATS: dict[str, tuple[str, Callable[[Suite, LeftOut], Files]]] = {
    "onnx-backend-test": ("onnx", _onnx_tests),
    "safetensors": ("safetensors", _with_safetensors),
}
