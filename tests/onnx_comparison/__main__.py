"""Compares what ONNX's own node cases and opcert's core suite find of a catalogue of faults.

Run with `python -m tests.onnx_comparison` from the repository's root; `--markdown` prints the
guide's table alone. Exit code 1: the reference fails a case of ONNX, or ONNX's cases find a fault
that the core suite does not find.
"""

import argparse
import sys

from tests.faults.catalogue import FAULTS
from tests.onnx_comparison.findings import by_mechanism, by_operator, complaints, findings


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m tests.onnx_comparison", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="the guide's table alone")
    options = parser.parse_args()
    found = list(findings(FAULTS.values()))
    print("\n".join(by_operator(found)))
    if not options.markdown:
        print("", *by_mechanism(found), sep="\n")
        print("", *(f"not found: {each.fault.name}" for each in found if not each.opcert), sep="\n")
    wrong = list(complaints(found))
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
