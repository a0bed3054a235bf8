"""Each check of the reference matters: without it, a case of the core suite turns red."""

from collections.abc import Sequence

from opcert.arrays.element_types import Array
from opcert.reference import RuleBroken, unchecked
from opcert.specification.files import call_reference, own_reference, read_specs_in
from opcert.verdicts.certification import Certification
from tests import shipped
from tests.wrong_backends import Attributes, Inputs

# The rules whose missing check another check of the reference hides, and what that one finds.
HIDDEN = {
    "concat-1/positive-rank": "a scalar has no axis",
    "dml-join/input-count-positive": "the sizes are not those of no tensors",
    "dml-join/output-rank": "the sizes are those of a shape of the rank",
    "dml-slice1/window-nonempty": "a window without elements reaches no element of the output",
    "gather-elements-6/data-rank": "a scalar has no axis",
    "reverse-sequence-1/data-rank": "data lacks one of the axes",
    "slice-8/default-axes-fit": "the default lists axes that data lacks",
}
RULES = [
    (spec.spec.operator, spec.spec.full_id(rule.id))
    for spec in read_specs_in(None)
    for rule in spec.spec.requirements.values()
]


class Weakened:
    """The reference without one check; what fails for another reason is no rejection."""

    name, version = "weakened", "1"

    def __init__(self, operator: str, rule: str) -> None:
        self._reference = own_reference(operator)
        self._rule = rule

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        del operator
        try:
            with unchecked(self._rule):
                return call_reference(self._reference, inputs, attributes)
        except RuleBroken:
            raise
        except Exception:
            return []


@shipped.at_length("operator, rule", RULES)
def test_a_case_turns_red_without_the_check(operator: str, rule: str) -> None:
    suite = shipped.suite(operator)
    certification = Certification(Weakened(operator, rule), suite)
    cases = [
        case.id for case in suite.operators[operator].cases.values() if case.violated_rule == rule
    ]
    assert cases
    is_red = any(certification.verdict(case).status == "fail" for case in cases)
    assert is_red != (rule in HIDDEN)
