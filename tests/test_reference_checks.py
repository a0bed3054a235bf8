"""Each check of the reference matters: without it, a case of the core suite turns red."""

import ast
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
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


class WithConstants(ast.NodeTransformer):
    """Replaces the names of constant strings in f-strings by their values."""

    def __init__(self, tree: ast.Module) -> None:
        self.constants = {
            name.id: value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for name, value in zip(elements(node.targets[0]), elements(node.value), strict=False)
            if isinstance(name, ast.Name) and isinstance(value, ast.Constant)
            if isinstance(value.value, str)
        }

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        return self.constants.get(ast.unparse(node.value), node)


def elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


@cache
def source(operator: str) -> str:
    """Return the module of the reference of an operator, with the ids of rules written out."""
    module, _ = HOMES[operator]
    tree = ast.parse((REFERENCE / f"{module.rpartition('.')[2]}.py").read_text())
    return ast.unparse(WithConstants(tree).visit(tree))


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
    for operator in HOMES:
        for node in ast.walk(ast.parse(source(operator))):
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
        _, function = HOMES[operator]
        tree = ast.parse(source(operator))
        tree = ast.fix_missing_locations(WithoutCheck(rule).visit(tree))
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


def named_in(operator: str) -> set[str]:
    """Return the rules that the reference checks, for a loop variable each string of its module."""
    nodes = [*ast.walk(ast.parse(source(operator)))]
    words = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    rules = {rule for of, rule in checks() if of == operator}
    return {rule.replace("*", word) for rule in rules for word in words}


def test_every_breakable_requirement_has_a_check() -> None:
    for spec in read_specs_in(None):
        checked = named_in(spec.spec.operator)
        for rule in spec.spec.requirements.values():
            name = spec.spec.full_id(rule.id)
            assert rule.unbreakable or name in checked, name
