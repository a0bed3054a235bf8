"""Each check of the reference matters: without it, a case of the core suite turns red."""

import ast
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.arrays import Array
from opcert.reference import RuleBroken
from opcert.specification import read_specs_in
from opcert.verdicts import Certification
from tests import shipped
from tests.wrong_backends import Right

REFERENCE = Path(__file__).parent.parent / "reference"
HOMES = {
    spec.spec.operator: spec.spec.reference.rpartition(":")[::2] for spec in read_specs_in(None)
}


def rule_of(node: ast.AST) -> str | None:
    """Return the rule that a statement checks, a loop variable as `*`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == "require":
            return text_of(call.args[1])
    if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
        raised = node.body[0].exc
        if isinstance(raised, ast.Call):
            return text_of(raised.args[0])
    return None


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "*" for p in parts)


def checks() -> Iterator[tuple[str, str]]:
    for operator, (module, _) in HOMES.items():
        path = REFERENCE / f"{module.rpartition('.')[2]}.py"
        for node in ast.walk(ast.parse(path.read_text())):
            rule = rule_of(node)
            if rule is not None:
                yield operator, rule
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "requires_arguments":
                yield operator, text_of(node.args[0])


class WithoutCheck(ast.NodeTransformer):
    """Takes one check out of a module."""

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def visit(self, node: ast.AST) -> Any:
        if rule_of(node) == self.rule:
            return ast.Pass()
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [
                d for d in node.decorator_list if self.rule not in ast.unparse(d)
            ]
        return self.generic_visit(node)


class Weakened(Right):
    """The reference without one check; what fails for another reason is no rejection."""

    def __init__(self, operator: str, rule: str) -> None:
        super().__init__()
        module, function = HOMES[operator]
        source = (REFERENCE / f"{module.rpartition('.')[2]}.py").read_text()
        tree = ast.fix_missing_locations(WithoutCheck(rule).visit(ast.parse(source)))
        namespace: dict[str, Any] = {"__name__": "weakened"}
        exec(compile(tree, "weakened", "exec"), namespace)  # noqa: S102 -- our own source
        self._function = namespace[function]

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        try:
            outputs: Sequence[Array] = self._function(**inputs, **attributes)
        except RuleBroken:
            raise
        except Exception:
            return []
        return outputs


@shipped.at_length("operator, rule", sorted(set(checks())))
def test_a_case_turns_red_without_the_check(operator: str, rule: str) -> None:
    suite = shipped.suite(operator)
    certification = Certification(Weakened(operator, rule), suite)
    cases = fnmatch.filter(suite.operators[operator].cases, f"{rule}.*")
    assert cases
    named = rule.partition("*")[0]
    red = [
        verdict
        for verdict in map(certification.verdict, cases)
        # Rejected for another rule is not rejected for this one.
        if verdict.status != "pass" or f"RuleBroken: {named}" not in verdict.detail
    ]
    assert red


def test_every_breakable_requirement_has_a_check() -> None:
    checked = {rule for _, rule in checks()}
    for spec in read_specs_in(None):
        for rule in spec.spec.requirements.values():
            name = spec.spec.full_id(rule.id)
            generic = name.replace("start-", "*-").replace("stop-", "*-").replace("step-", "*-")
            assert rule.unbreakable or {name, generic} & checked, name
