"""Prints what opcert costs, each row against a floor measured in the same run.

Run with `python -m tests.benchmarks` from the repository's root. Times are medians; a row and its
floor are measured in turn, so that both see the same machine.
"""

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array
from opcert.backends.reference import Reference
from opcert.reference import RuleBroken
from opcert.specification.files import read_specs_in
from opcert.suite.format import StoredArray
from opcert.suite.generation import iterate_files
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from tests.benchmarks.measuring import Row, measured
from tests.benchmarks.processes import (
    isolation,
    onnx_runner,
    pytest_run,
    start_up,
    two_jobs,
    worker_start,
)

Recorded = tuple[str, dict[str, Array], dict[str, Any]]


def generation() -> Row:
    """Time from specs to the bytes of every file, per case."""
    suite = Suite()
    specs = [file for file in read_specs_in(None) if file.spec.operator in suite.operators]
    reference, packs = Reference(), list(_packed(suite))
    cases = sum(len(operator.cases) for operator in suite.operators.values())

    def floor() -> None:
        for calls, arrays in packs:
            for name, inputs, attributes in calls:
                _called(reference, name, inputs, attributes)
            with tempfile.TemporaryFile() as file:
                np.savez(file, allow_pickle=False, **arrays)

    seconds, least = measured(lambda: dict(iterate_files(specs)), floor)
    what = "reference, and np.savez of the same arrays"
    return Row("generation, a case", seconds / cases, what, least / cases, 8)


def _packed(suite: Suite) -> Iterator[tuple[list[Recorded], dict[str, Array]]]:
    for name, operator in suite.operators.items():
        calls = [(name, operator.inputs(c), dict(c.attributes)) for c in operator.cases.values()]
        with np.load(suite.folder / operator.entry.pack) as archive:
            yield calls, dict(archive)


def _called(
    reference: Reference, name: str, inputs: dict[str, Array], attributes: dict[str, Any]
) -> list[Array]:
    try:
        return reference.run(name, inputs, attributes)
    except RuleBroken:
        return []


def _compare(found: list[Array], expected: Sequence[Array]) -> None:
    if [each.tobytes() for each in found] != [each.tobytes() for each in expected]:
        raise AssertionError("the reference differs from the suite")


def certification() -> Row:
    """Time from an opened suite's folder to all verdicts on the reference, per case.

    The floor makes the calls of a valid case (the data, inverted data, the data again) and of a
    case to be rejected (three times, and its valid baseline once).
    """
    suite, reference = Suite(), Reference()
    cases = sum(len(operator.cases) for operator in suite.operators.values())

    def run() -> None:
        opened = Suite()
        certified = Certification(reference, opened)
        for _, case in opened:
            certified.verdict(case.id)
        certified.finish()

    # What is computed rather than stored is made before the time is taken.
    ready = {
        case.id: (
            operator.inputs(case),
            operator.outputs(case),
            operator.inputs(case, inverted_data=True),
            operator.inverted_data_outputs(case),
        )
        for operator, case in suite
        if case.expects == "outputs"
    }

    def floor() -> None:
        for name, operator in suite.operators.items():
            with np.load(suite.folder / operator.entry.pack) as archive:
                for case in operator.cases.values():
                    inputs = {
                        each: archive[given.array].view(ELEMENT_TYPES[given.type])
                        if isinstance(given, StoredArray)
                        else operator.read_array(given)
                        for each, given in case.inputs.items()
                    }
                    attributes = dict(case.attributes)
                    if case.expects == "rejection":
                        for _ in range(3):
                            _called(reference, name, inputs, attributes)
                        if case.baseline is not None:
                            made, expected, *_ = ready[case.baseline]
                            valid = dict(operator.cases[case.baseline].attributes)
                            _compare(_called(reference, name, made, valid), expected)
                        continue
                    made, expected, inverted, expected_of_inverted = ready[case.id]
                    golden = [
                        archive[each.array] if isinstance(each, StoredArray) else large
                        for each, large in zip(case.outputs, expected, strict=True)
                    ]
                    for given_now, expected_now in (
                        (inputs, golden),
                        (inverted, expected_of_inverted),
                        (inputs, golden),
                    ):
                        _compare(_called(reference, name, given_now, attributes), expected_now)

    seconds, least = measured(run, floor)
    what = "np.load, the same calls, compare bytes"
    return Row("certification, a case", seconds / cases, what, least / cases, 1.5)


def main() -> None:
    """Print the table as Markdown."""
    print("| what | time | floor | time | ratio | goal |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for row in (
        generation(),
        certification(),
        two_jobs(),
        isolation(),
        worker_start(),
        onnx_runner(),
        pytest_run(),
        start_up(),
    ):
        print(row, flush=True)


if __name__ == "__main__":
    main()
