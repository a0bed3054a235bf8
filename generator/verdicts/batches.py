"""Cases -> batches, which several processes run at once: calls of one signature stay together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite

# The number of cases of a batch: enough to show a state that lasts for many calls, and few enough
# that the last batches keep all processes busy.
BATCH_CASES = 100


@dataclass(frozen=True)
class Batch:
    """Cases of an operator that run one after the other in one process."""

    operator: str
    cases: tuple[str, ...]


def batches(suite: Suite, cases: Sequence[str], size: int = BATCH_CASES) -> Iterator[Batch]:
    """Divide cases into batches of about `size`; they depend on nothing else.

    What a backend keeps between calls, such as a compiled model, most often belongs to the types
    and ranks of inputs. So cases of which these are equal stay together, in the order of the suite,
    and each case stays with its baseline.
    """
    by_operator: dict[str, dict[object, list[str]]] = {}
    for name in cases:
        operator, case = suite.cases[name]
        groups = by_operator.setdefault(operator.index.operator, {})
        groups.setdefault(_signature(operator, case), []).append(name)
    for operator_name, groups in by_operator.items():
        batch: list[str] = []
        for group in groups.values():
            batch += group
            if len(batch) >= size:
                yield Batch(operator_name, tuple(batch))
                batch = []
        if batch:
            yield Batch(operator_name, tuple(batch))


def _signature(operator: OperatorSuite, case: IndexedCase) -> object:
    """Return the types and ranks of the inputs of a case, or of its baseline if it has one."""
    while case.baseline is not None:
        case = operator.cases[case.baseline]
    return tuple((name, array.type, len(array.shape)) for name, array in case.inputs.items())
