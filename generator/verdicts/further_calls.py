"""Fresh calls after a run, which try causes."""

from collections.abc import Callable, Collection, Iterator, Sequence

from opcert.cases.drawn import drawn_number
from opcert.isolation.supervised import SupervisedBackend
from opcert.run.session import Session, Step
from opcert.suite.support import declared_support
from opcert.verdicts.case_levels import CaseLevels, have_different_elements
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.earlier_calls import Limit
from opcert.verdicts.reproduction import FreshCall, FreshDraw

# How many failing calls of a cause are replayed. So few failures may have a condition by chance,
# and others none since too few calls pass: then so many calls more are made.
_REPLAYED, _FEW, _MORE = 8, 50, 600
# How often causes are tried; how many calls the operators then share, and how many one has at the
# most; as how many a call in a process of its own counts; and the seconds that they share.
_ROUNDS, _CALLS, _OPERATOR_CALLS, _OF_OWN_PROCESS, _SECONDS = 2, 1000, 500, 4, 300.0
# Kinds of failure that follow from other calls or declarations, or take too long.
_NOT_TRIED = {"uncredited", "undeclared", "state", "hang"}


def try_conditions(
    backend: SupervisedBackend,
    diagnosis: Diagnosis,
    find: Callable[[], Sequence[Cause]],
    fresh: dict[str, tuple[FreshCall, ...]],
    left_out: Collection[str],
    stateful: Collection[str],
) -> None:
    """Add calls to the `fresh` ones of each operator: they try its causes, and those that follow.

    `find` returns the causes so far. Operators can be left out. Of `stateful` ones, whose calls
    fail after others, a call that fails is made again in a process of its own.
    """
    tried: set[object] = set()
    for _ in range(_ROUNDS):
        by_operator: dict[str, list[Cause]] = {}
        for cause in find():
            is_new = not cause.condition or (cause.operator, cause.condition) not in tried
            if is_new and cause.operator not in left_out:
                by_operator.setdefault(cause.operator, []).append(cause)
                tried.add((cause.operator, cause.condition))
        for name, causes in by_operator.items():
            former, levels = fresh.get(name, ()), diagnosis.levels[name]
            count = min(_OPERATOR_CALLS, _CALLS // len(by_operator))
            limit = Limit(count, _SECONDS / len(by_operator))
            if made := [*_tried(backend, levels, causes, former, name in stateful, limit)]:
                fresh[name] = (*former, *made)


def _tried(
    backend: SupervisedBackend,
    levels: CaseLevels,
    causes: Sequence[Cause],
    former: Collection[FreshCall],
    is_stateful: bool,
    limit: Limit,
) -> Iterator[FreshCall]:
    """Yield fresh calls that show which terms of the conditions of an operator's causes matter.

    They are failing calls with one choice answered anew. Where that makes one pass, and changes
    several arguments, they are changed one at a time, too. Where a cause has few failures or no
    condition, calls follow that are drawn without regard to it. `former` calls are not made again.
    """
    operator, drawn = levels.operator, levels.drawn
    if drawn is None:
        return
    causes = [
        cause
        for cause in causes
        if operator.cases[cause.representative].expects == "outputs"
        and not _NOT_TRIED & set(cause.kinds)
    ]
    is_open = any(len(cause.cases) <= _FEW or not cause.condition for cause in causes)
    numbers = [number for cause in causes for number in _drawn_numbers(cause)]
    made, support = {call.name for call in former}, declared_support(backend)

    def tried(fresh: FreshDraw) -> FreshCall | None:
        call = None if fresh.name in made or limit.is_reached else drawn.call(fresh)
        # Two answers may give the same call.
        if call is None or repr(call) in made:
            return None
        made.add(repr(call))
        # What the backend declares as unsupported may give any result.
        if support.exclusion_reason(operator.index.operator, drawn.support(call)):
            return None
        return _made(backend, fresh, drawn.steps(fresh, call), is_stateful, limit)

    for fresh in drawn.trials(numbers, _MORE if is_open else 0):
        if (call := tried(fresh)) is not None:
            yield call
            if call.anew and call.shows and call.failure is None:
                yield from filter(None, map(tried, drawn.parts(fresh)))


def _made(
    backend: SupervisedBackend,
    fresh: FreshDraw,
    steps: Sequence[Step],
    is_stateful: bool,
    limit: Limit,
) -> FreshCall | None:
    """Make a fresh call; return it, or None if it says nothing.

    Of a stateful backend, a call that fails is made again in a process of its own.
    """
    # Of a stateful backend, the same call with other data would be an earlier one.
    steps = steps[:1] if is_stateful else steps
    session = Session(backend)
    limit.take()
    fault = session.first_fault(steps)
    if fault is not None and is_stateful:
        limit.take(_OF_OWN_PROCESS)
        backend.restart()
        session = Session(backend)
        if (fault := session.first_fault(steps)) is None:
            # It fails only after other calls.
            return None
    if not steps or session.declined:
        return None
    shows = have_different_elements(output for step in steps for output in step.golden or ())
    failure = None if fault is None else fault[1].kind
    return FreshCall(**fresh.model_dump(), failure=failure, shows=shows)


def _drawn_numbers(cause: Cause) -> Sequence[int]:
    """Return the numbers of a few of the drawn calls that fail, spread over all of them."""
    numbers = [number for case in cause.cases if (number := drawn_number(case)) is not None]
    spread = numbers[:: max(1, len(numbers) // _REPLAYED)]
    # What the call that people read lacks when it passes is worth the most.
    first = drawn_number(cause.representative)
    few = spread if first is None else [*dict.fromkeys([first, *spread])]
    return few[:_REPLAYED]
