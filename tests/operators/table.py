"""Writes the tables of the operators that the core suite lacks into the guides.

`python -m tests.operators.table` renews `specs/README.md`: it generates each suite and measures its
strength, which takes minutes; `--keep-strength` keeps the figures that are there. With
`--certificates FOLDER` it also renews the results in `generator/backends/README.md`, from every
`certificate.json` below the folder.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from opcert.specs import CORE_OPERATORS
from opcert.strength.strength import measure_strength
from opcert.suite.generation import iterate_files
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.system import limited
from tests.shipped import SPECS, spec

ROOT = Path(__file__).parents[2]
SPECS_GUIDE = ROOT / "specs" / "README.md"
BACKENDS_GUIDE = ROOT / "generator" / "backends" / "README.md"
COMMAND = "python -m tests.operators.table"
HEAD = [
    "operator",
    "lines",
    "rules",
    "cases",
    "systematic faults found",
    "random faults found",
    "runtimes, and what they fail",
]
# What the last cell has of an operator that no runtime has run yet.
UNKNOWN = "not run yet"
# What is no limit to the length of a spec.
UNCOUNTED = ("ambiguities", "examples")
# The causes of failures that `generator/backends/README.md` shows as programs, runtime by runtime.
# OpenVINO moves 64-bit elements through 32 bits, and f16 and f8 through f32, for every operator.
FAILURES = {
    "openvino/Concat-1": "openvino: types; onnxruntime: skips empty tensors; torch, numpy: "
    "an axis out of range",
    "openvino/GatherElements-6": "openvino: types, valid calls after a rejection; "
    "onnxruntime, torch, array-api: nothing",
    "openvino/Pad-1": "openvino: types, scalars, negative pads, pads cut to 32 bits; onnxruntime: "
    "scalars, a value of rank 1; torch: 64-bit values",
    "openvino/Reshape-1": "openvino: types, sizes below -1, results kept from earlier calls; "
    "onnxruntime, torch: nothing; numpy: sizes below -1",
    "openvino/ReverseSequence-1": "openvino: types (integers through f32), lengths of f8 and out "
    "of range, valid calls after a rejection",
    "openvino/ScatterElementsUpdate-3": "openvino: types, negative indices, updates outside data "
    "(memory), several axes; onnxruntime, torch: nothing",
    "openvino/Split-1": "openvino: types, an axis cut to 32 bits, 65,555 parts (hang); "
    "onnxruntime, torch, array-api: nothing",
    "openvino/StridedSlice-1": "openvino: masks of different lengths (most cases), types",
    "openvino/Tile-1": "openvino: types, empty repeats (crash); onnxruntime: NaN of f16; "
    "jax: subnormals of bf16; torch, array-api: nothing",
    "openvino/Transpose-1": "openvino: types, an empty order, an order cut to 32 bits; "
    "onnxruntime, torch: nothing; numpy: an order cut to 32 bits",
    **dict.fromkeys(
        ["openvino/Add-1", "openvino/Multiply-1"],
        "openvino: f64 and 64-bit integers, pdpd with dynamic shapes, words",
    ),
    "openvino/Maximum-1": "openvino: f64 and wide integers, words, a model after a rejection",
    "openvino/MatMul-1": "openvino: f64 and integers through f32",
    "openvino/Convert-1": "openvino: NaN, infinities, u32 beyond 2^31, integers to bf16; "
    "onnxruntime, torch: nothing",
    "openvino/Convolution-1": "openvino: f64 and integers through f32, negative pads, omitted "
    "strides, a model after a rejection; onnxruntime: negative pads, dilations in modes same",
    "openvino/MaxPool-1": "openvino: f64 through f32, bf16",
    "openvino/MVN-6": "openvino: f64 through f32, eps of 0, types of axes",
    "openvino/Divide-1": "openvino: quotients of integers are truncated",
    "openvino/Exp-1": "openvino: f64 through f32, f32 about 4 units off",
    "openvino/Sigmoid-1": "onnxruntime: f32 about 13 units off, the argument is clamped",
    "openvino/Sqrt-1": "torch: f64 one unit off; onnxruntime: nothing",
    "openvino/Tanh-1": "onnxruntime: results below -1; torch: nothing",
    "openvino/Softmax-8": "onnxruntime: an axis cut to 32 bits; torch: nothing",
    "openvino/Select-1": "onnxruntime: the sign of -0.0; torch: nothing",
    "openvino/ReduceSum-1": "onnxruntime: i64 through f64, repeated axes; torch: axes of a scalar",
    "openvino/ReduceMean-1": "onnxruntime: shapes of empty data, repeated axes; "
    "torch: axes of a scalar",
    "openvino/AvgPool-1": "onnxruntime: pads as large as the window, mode ceil, words",
    **dict.fromkeys(
        ["openvino/Clamp-1", "openvino/Less-1", "openvino/Relu-1"], "onnxruntime, torch: nothing"
    ),
    "directml/DML_OPERATOR_JOIN": "torch, array-api: nothing",
    "directml/DML_OPERATOR_SLICE1": "torch, array-api: nothing",
}


def operators() -> list[str]:
    """Return the ids of the shipped operators that the core suite lacks."""
    ids = {spec(name).spec.operator for name in SPECS}
    return sorted(ids - {*CORE_OPERATORS}, key=lambda name: (name.startswith("directml"), name))


def facts(operator: str) -> list[str]:
    """Return the cells that follow from the spec alone: lines and rules.

    Blank lines, and those of examples and ambiguities, do not count.
    """
    path = SPECS[operator.partition("/")[2]]
    parts = re.split(r"^(?=\w+:)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    counted = [part for part in parts if not part.startswith(UNCOUNTED)]
    rules = yaml.safe_load(path.read_text(encoding="utf-8"))["rules"]
    lines = [line for part in counted for line in part.splitlines() if line.strip()]
    return [str(len(lines)), str(len(rules))]


@lru_cache(maxsize=1)
def suite(operator: str) -> OperatorSuite:
    """Return the core suite of an operator."""
    files = dict(iterate_files([spec(operator.partition("/")[2])]))
    return Suite(Path("core"), files=files).operators[operator]


def cases(operator: str) -> str:
    """Return the number of cases of the core suite."""
    return str(len(suite(operator).cases))


def strength(operator: str) -> list[str]:
    """Return how many systematic faults the core suite finds, and the share of random ones."""
    file = spec(operator.partition("/")[2])
    # Wrong scalars may ask it for more memory than there is.
    within_limits = replace(file, reference=limited(file.reference))
    measured = measure_strength(within_limits, suite(operator))
    return [f"{measured.systematic_found} of {measured.systematic}", measured.percent]


def rows_of(guide: Path, command: str = COMMAND) -> dict[str, list[str]]:
    """Return the cells of each row of a guide's table by its first cell, the head left out."""
    lines = _table(guide.read_text(encoding="utf-8"), command)[1].strip().splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0]: row for row in rows}


def results(folder: Path) -> list[list[str]]:
    """Return the rows of the results, an operator each, and their head; from certificates."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(dict)
    for path in sorted(folder.rglob("certificate.json")):
        certificate = json.loads(path.read_text(encoding="utf-8"))
        label = _label(certificate["backend"])
        by_operator: dict[str, Counter[str]] = defaultdict(Counter)
        for verdict in certificate["verdicts"]:
            by_operator[verdict["operator"]][verdict["status"]] += 1
        for operator, statuses in by_operator.items():
            if statuses["pass"] and not statuses["not-run"]:
                counts[label][operator] = statuses
    labels = sorted(counts, key=lambda label: (not label.startswith("openvino"), label))
    rows = [["operator", *labels]]
    for operator in operators():
        rows.append([operator, *(_cell(counts[label].get(operator)) for label in labels)])
    return rows


def _label(backend: dict[str, Any]) -> str:
    options = [f"`{key}={value}`" for key, value in backend.get("options", {}).items()]
    return ", ".join([backend["name"], *options])


def _cell(statuses: Counter[str] | None) -> str:
    if statuses is None:
        return ""
    text = f"{statuses['pass']} / {statuses['fail']} / {statuses['unsupported']}"
    ended = statuses["crash"] + statuses["hang"]
    return f"{text} + {ended}" if ended else text


def _table(text: str, command: str) -> tuple[str, str, str]:
    """Return the text before, in and after the table that a command writes."""
    begin, end = f"<!-- {command}: begin -->\n", "<!-- end -->"
    before, _, rest = text.partition(begin)
    table, _, after = rest.partition(end)
    return before + begin, table, end + after


def _write(guide: Path, command: str, rows: list[list[str]]) -> None:
    before, _, after = _table(guide.read_text(encoding="utf-8"), command)
    head, *body = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    guide.write_text(before + text + after, encoding="utf-8")


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--keep-strength", action="store_true", help="keep the figures of faults")
    parser.add_argument("--certificates", type=Path, metavar="FOLDER", help="renew the results")
    options = parser.parse_args()
    rows = rows_of(SPECS_GUIDE)
    for operator in operators():
        cells = [operator, *facts(operator), cases(operator)]
        is_kept = options.keep_strength and operator in rows
        cells += rows[operator][4:6] if is_kept else strength(operator)
        rows[operator] = [*cells, FAILURES.get(operator, UNKNOWN)]
        # Measuring takes minutes; what is known is written.
        known = [rows[name] for name in operators() if name in rows]
        _write(SPECS_GUIDE, COMMAND, [HEAD, *known])
    if options.certificates:
        _write(BACKENDS_GUIDE, f"{COMMAND} --certificates", results(options.certificates))


if __name__ == "__main__":
    main()
