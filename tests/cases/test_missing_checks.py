"""What the calls that break a rule show of an implementation which does not check it."""

from collections import defaultdict

import pytest

from opcert.reference import RuleBroken, unchecked
from opcert.report.explain import changes_from_baseline
from opcert.specification.files import own_reference
from tests.at_length import at_length
from tests.faults.fault import OPERATORS
from tests.faults.finding import whole_core_suite

# The rules that another one hides in any case, wherever they are broken by a change of these
# arguments, and why that must be.
HIDDEN = {
    ("dml-split/uint-range", "OutputCount"): "a negative count is not above 0 either, and as many "
    "descriptions as one past 32 bits asks for are not there",
    ("dml-split/output-count-positive", "OutputCount"): "no sizes sum to no more than 0",
    ("dml-split/output-count-positive", "OutputCount OutputTensors"): "no sizes sum to no more",
    ("slice-8/data-rank", "data"): "a scalar has none of the axes that are sliced",
    ("slice-8/default-axes-fit", "data"): "the default lists axes that data lacks",
}


@pytest.mark.parametrize("operator", at_length(OPERATORS, 5))
def test_another_rule_hides_a_missing_check_only_where_it_has_to(operator: str) -> None:
    suite, reference = whole_core_suite().operators[operator], own_reference(operator)
    hidden: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for case in suite.cases.values():
        if case.violated_rule is None or case.ambiguity is not None:
            continue
        arguments = " ".join(sorted(changes_from_baseline(suite, case)))
        try:
            with unchecked(case.violated_rule):
                reference(**suite.inputs(case), **case.attributes)
        except RuleBroken:
            hidden[case.violated_rule, arguments].append(True)
        except Exception:  # without its check, a reference may fail in any way
            hidden[case.violated_rule, arguments].append(False)
        else:
            hidden[case.violated_rule, arguments].append(False)
    slug = next(iter(suite.cases)).partition("/")[0]
    always = {place for place, results in hidden.items() if all(results)}
    assert always == {place for place in HIDDEN if place[0].startswith(f"{slug}/")}
    every = [result for results in hidden.values() for result in results]
    assert sum(every) < len(every) / 4
