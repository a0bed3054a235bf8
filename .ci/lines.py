"""Print the code lines of each package, without comments and docstrings, and its budget."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUDGET = {
    "arrays": 500, "specification, yaml_files": 1000, "choices, diagnosis, combinatorics": 420,
    "roles": 1500, "cases": 1000, "suite, scope": 1100, "backends": 1500, "verdicts": 1150,
    "run, isolation": 1300, "strength, panel": 300, "exploration": 120,
    "certificate, verification": 1000, "programs, report, pages": 1250, "commands, (top)": 1200,
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
    """Return the code lines of each package of a folder."""
    counts: Counter[str] = Counter()
    for path in (ROOT / folder).rglob("*.py"):
        (package, *_) = (*path.relative_to(ROOT / folder).parts[:-1], "(top)")
        counts[package] += code_lines(path.read_text("utf-8"))
    return counts


counts = lines_below("generator")
print(f"{counts.total():6} of {sum(BUDGET.values()):5}  generator/")
for packages, most in BUDGET.items():
    print(f"{sum(counts[name] for name in packages.split(', ')):6} of {most:5}    {packages}")
print(f"{lines_below('reference').total():6}           reference/")
print(f"{lines_below('tests').total():6}           tests/")
