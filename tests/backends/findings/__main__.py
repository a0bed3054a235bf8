"""List the findings, or print a program, or the guide's table."""

import argparse
import json
import sys

from tests.backends import findings
from tests.backends.findings import FINDINGS, run_program, table


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.backends.findings", description=findings.__doc__
    )
    parser.add_argument("name", nargs="?", choices=FINDINGS, metavar="NAME")
    parser.add_argument("--markdown", action="store_true", help="print the guide's table")
    parser.add_argument("--run", choices=FINDINGS, metavar="NAME", help="print a program's result")
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run_program(FINDINGS[options.run].program)))
    elif options.markdown:
        print("\n".join(table()))
    elif options.name:
        print(FINDINGS[options.name].text, end="")
    else:
        for finding in FINDINGS.values():
            print(f"{finding.name}: {finding.operator}, {finding.rule}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
