"""Prints what opcert costs, each row against a floor measured in the same run.

Run with `python -m tests.benchmarks` from the repository's root. Times are medians; a row and its
floor are measured in turn, so that both see the same machine.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from opcert.generator.backends.reference import Reference
from opcert.generator.certification import Certification
from opcert.generator.element_types import ELEMENT_TYPES, Array
from opcert.generator.generation import suite_of
from opcert.generator.spec_files import specs_in
from opcert.generator.suite import Suite
from opcert.generator.suite_format import StoredArray
from opcert.generator.supervised import Supervised
from opcert.reference import RuleBroken
from opcert.reference.broadcasting import broadcast_1
from opcert.reference.dml_split import dml_split
from opcert.reference.gathering import gather_8
from opcert.reference.slicing import slice_8
from opcert.reference.variadic_split import variadic_split_1

REPEATS = 5
Work = Callable[[], object]
Recorded = tuple[str, dict[str, Array], dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """A measurement with its floor, in seconds, and what their ratio should be at most."""

    what: str
    seconds: float
    floor_is: str
    floor: float
    goal: float | None = None

    def __str__(self) -> str:
        ratio = f"{self.seconds / self.floor:.2f}"
        goal = f"{self.goal}" if self.goal else ""
        times = f"{_unit(self.seconds)} | {self.floor_is} | {_unit(self.floor)}"
        return f"| {self.what} | {times} | {ratio} | {goal} |"


def _unit(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-2 else f"{seconds * 1e6:.0f} µs"


def measured(work: Work, floor: Work) -> tuple[float, float]:
    """Return the median times of both, run in turn after one run each that does not count."""
    work()
    floor()
    pairs = [(_time(work), _time(floor)) for _ in range(REPEATS)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def _time(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def generation() -> Row:
    """Time from specs to the bytes of every file, per case."""
    specs, suite = specs_in(None), Suite()
    reference, packs = Reference(), list(_packed(suite))
    cases = sum(len(operator.cases) for operator in suite.operators.values())

    def floor() -> None:
        for calls, arrays in packs:
            for name, inputs, attributes in calls:
                _called(reference, name, inputs, attributes)
            with tempfile.TemporaryFile() as file:
                np.savez(file, allow_pickle=False, **arrays)

    seconds, least = measured(lambda: suite_of(specs), floor)
    what = "reference, and np.savez of the same arrays"
    return Row("generation, a case", seconds / cases, what, least / cases, 2)


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


def pytest_run() -> Row:
    """Time of a whole pytest run over the core suite, per case, in a process of its own."""
    suite = Suite()
    cases = sum(len(operator.cases) for operator in suite.operators.values())
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "test_empty.py"
        empty.write_text(
            "import pytest\n\n\n"
            f"@pytest.mark.parametrize('case', [f'case-{{i}}' for i in range({cases})])\n"
            "def test_empty(case):\n    pass\n"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-r", "N"]
        seconds, least = measured(
            lambda: _quiet([*command, str(suite.folder)]), lambda: _quiet([*command, str(empty)])
        )
    return Row("pytest, a case", seconds / cases, "an empty parametrised test", least / cases, 1.5)


def isolation() -> Row:
    """Time of a small call in a process of its own, against the call itself."""
    alone, here = Supervised("reference", {}), Reference()
    inputs = {
        "data": np.arange(24, dtype=np.float32).reshape(4, 6),
        "axis": np.array(1),
        "split_lengths": np.array([2, 4]),
    }
    name, calls = "openvino/VariadicSplit-1", 1000

    def work() -> None:
        for _ in range(calls):
            alone.outcome(name, inputs, {})

    def floor() -> None:
        for _ in range(calls):
            here.run(name, inputs, {})

    seconds, least = measured(work, floor)
    alone.close()
    return Row("a call in a process of its own", seconds / calls, "the call", least / calls)


def start_up() -> Row:
    """Time of `opcert --help`."""
    run = [sys.executable, "-m", "opcert.generator.cli", "--help"]
    seconds, floor = measured(
        lambda: _quiet(run), lambda: _quiet([sys.executable, "-c", "import typer.main"])
    )
    return Row("opcert --help", seconds, "python -c 'import typer.main'", floor)


def _quiet(command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, check=True, capture_output=True, cwd=folder)


def references() -> Iterator[Row]:
    """Time of each reference function on 16 MB of f32, against NumPy's call for the same move."""
    data = np.arange(1 << 22, dtype=np.float32).reshape(2048, 2048)
    row = data[0].copy()

    def ints(*values: int) -> Array:
        return np.array(values, np.int64)

    lengths, halves = ints(1000, -1), [{"Sizes": [2048, 1024], "DataType": "FLOAT32"}] * 2
    picked = np.random.default_rng(0).integers(-2048, 2048, 2048)
    bounds = {"start": ints(0, 2047), "stop": ints(2048, -2049), "step": ints(1, -1)}
    moves: list[tuple[str, str, Work, Work]] = [
        (
            "VariadicSplit-1",
            "np.split and copy",
            lambda: variadic_split_1(data=data, axis=np.array(1), split_lengths=lengths),
            lambda: [part.copy() for part in np.split(data, [1000], 1)],
        ),
        (
            "DML_OPERATOR_SPLIT",
            "np.split and copy",
            lambda: dml_split(InputTensor=data, OutputCount=2, OutputTensors=halves, Axis=1),
            lambda: [part.copy() for part in np.split(data, 2, 1)],
        ),
        (
            "Slice-8",
            "basic indexing and copy",
            lambda: slice_8(data=data, **bounds),
            lambda: np.copy(data[:, ::-1]),
        ),
        (
            "Broadcast-1",
            "np.broadcast_to and copy",
            lambda: broadcast_1(data=row, target_shape=ints(2048, 2048)),
            lambda: np.broadcast_to(row, (2048, 2048)).copy(),
        ),
        (
            "Gather-8, rows",
            "np.take",
            lambda: gather_8(data=data, indices=picked, axis=np.array(0)),
            lambda: np.take(data, picked, 0),
        ),
        (
            "Gather-8, columns",
            "np.take",
            lambda: gather_8(data=data, indices=picked, axis=np.array(1)),
            lambda: np.take(data, picked, 1),
        ),
    ]
    for name, floor_is, work, floor in moves:
        yield Row(f"reference, {name}, 16 MB", *_swap(floor_is, measured(work, floor)), 1.5)


def _swap(floor_is: str, times: tuple[float, float]) -> tuple[float, str, float]:
    return times[0], floor_is, times[1]


def main() -> None:
    """Print the table as Markdown."""
    print("| what | time | floor | time | ratio | goal |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for row in (
        generation(),
        certification(),
        isolation(),
        pytest_run(),
        start_up(),
        *references(),
    ):
        print(row, flush=True)


if __name__ == "__main__":
    main()
