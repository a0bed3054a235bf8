"""Prints what opcert costs, each row against a floor measured in the same run.

Run with `python -m tests.benchmarks` from the repository's root. Times are medians; a row and its
floor are measured in turn, so that both see the same machine.
"""

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, Array
from opcert.backends.reference import Reference
from opcert.reference import RuleBroken
from opcert.specification import read_specs_in
from opcert.suite import StoredArray, Suite, generate_suite_files
from opcert.verdicts import Certification
from tests.benchmarks.measuring import Row, measured
from tests.benchmarks.processes import isolation, onnx_runner, pytest_run, start_up
from tests.benchmarks.references import references
from tests.benchmarks.reports import reports

Recorded = tuple[str, dict[str, Array], dict[str, Any]]


def generation() -> Row:
    """Time from specs to the bytes of every file, per case."""
    specs, suite = read_specs_in(None), Suite()
    reference, packs = Reference(), list(_packed(suite))
    cases = sum(len(operator.cases) for operator in suite.operators.values())

    def floor() -> None:
        for calls, arrays in packs:
            for name, inputs, attributes in calls:
                _called(reference, name, inputs, attributes)
            with tempfile.TemporaryFile() as file:
                np.savez(file, allow_pickle=False, **arrays)

    seconds, least = measured(lambda: generate_suite_files(specs), floor)
    what = "reference, and np.savez of the same arrays"
    return Row("generation, a case", seconds / cases, what, least / cases, 8)


def _packed(suite: Suite) -> Iterator[tuple[list[Recorded], dict[str, Array]]]:
    for name, operator in suite.operators.items():
        calls = [(name, operator.inputs(c), dict(c.attributes)) for c in operator.index.cases]
        with np.load(suite.folder / operator.entry.pack) as archive:
            yield calls, dict(archive)


def _called(
    reference: Reference, name: str, inputs: dict[str, Array], attributes: dict[str, Any]
) -> list[Array]:
    try:
        return reference.run(name, inputs, attributes)
    except RuleBroken:
        return []


def certification() -> Row:
    """Time from an opened suite's folder to all verdicts on the reference, per case."""
    suite, reference = Suite(), Reference()
    cases = sum(len(operator.cases) for operator in suite.operators.values())

    def run() -> None:
        opened = Suite()
        certified = Certification(reference, opened)
        for _, case in opened:
            certified.verdict(case.id)
        certified.finish()

    # What is too large to store is made before the time is taken.
    ready = {case.id: (op.inputs(case), op.outputs(case)) for op, case in suite}

    def floor() -> None:
        for name, operator in suite.operators.items():
            with np.load(suite.folder / operator.entry.pack) as archive:
                for case in operator.index.cases:
                    made_inputs, made_outputs = ready[case.id]
                    inputs = {
                        each: archive[given.array].view(ELEMENT_TYPES[given.type])
                        if isinstance(given, StoredArray)
                        else made_inputs[each]
                        for each, given in case.inputs.items()
                    }
                    golden = [
                        archive[each.array] if isinstance(each, StoredArray) else made
                        for each, made in zip(case.outputs, made_outputs, strict=True)
                    ]
                    found = _called(reference, name, inputs, dict(case.attributes))
                    if [each.tobytes() for each in found] != [each.tobytes() for each in golden]:
                        raise AssertionError(case.id)

    seconds, least = measured(run, floor)
    what = "np.load, reference, compare bytes"
    return Row("certification, a case", seconds / cases, what, least / cases, 1.2)


def main() -> None:
    """Print the table as Markdown."""
    print("| what | time | floor | time | ratio | goal |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for row in (
        generation(),
        certification(),
        isolation(),
        onnx_runner(),
        pytest_run(),
        start_up(),
        *references(),
        *reports(),
    ):
        print(row, flush=True)


if __name__ == "__main__":
    main()
