"""Print the code lines of each package, without comments and docstrings, and its budget.

A package or a module without a budget is an error, and so is a budget of something that is gone.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUDGET = {
    "arrays": 500,
    "accuracy": 700,
    "specification, yaml_files": 1000,
    "choices, diagnosis": 420,
    "roles": 1500,
    "cases": 1000,
    "suite": 1100,
    "backends": 1500,
    "run, isolation": 1300,
    "verdicts": 1150,
    "strength": 300,
    "exploration": 120,
    "certificate, verification": 1000,
    "programs, report": 1250,
    "commands, cli, workers, errors, pytest_suite, settings, system, __init__, __main__": 1200,
}
_LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}


def code_lines(source: str) -> int:
    """Return the number of lines with code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def lines_below(folder: str) -> Counter[str]:
    """Return the code lines of each package, and of each module that is in none."""
    counts: Counter[str] = Counter()
    for path in (ROOT / folder).rglob("*.py"):
        name = path.relative_to(ROOT / folder).with_suffix("").parts[0]
        counts[name] += code_lines(path.read_text("utf-8"))
    return counts


counts = lines_below("generator")
groups = {tuple(names.split(", ")): most for names, most in BUDGET.items()}
budgeted = {name for names in groups for name in names}
if budgeted != counts.keys():
    without, gone = sorted(counts.keys() - budgeted), sorted(budgeted - counts.keys())
    sys.exit(f"{__file__}: without a budget: {without}; budgets of what is gone: {gone}")
print(f"{counts.total():6} of {sum(BUDGET.values()):5}  generator/")
for names, most in groups.items():
    print(f"{sum(counts[name] for name in names):6} of {most:5}    {', '.join(names)}")
for folder in ("reference", "tests"):
    print(f"{lines_below(folder).total():6}           {folder}/")
