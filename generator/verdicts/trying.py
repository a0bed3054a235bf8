"""Conditions of causes x backend -> fresh calls that try them."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from opcert.isolation.supervised import SupervisedBackend
from opcert.run.session import Session
from opcert.suite.support import declared_support
from opcert.verdicts.case_levels import CaseLevels, LevelledCalls
from opcert.verdicts.cause_text import Cause, condition_of
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.fresh import FreshCall, have_different_elements, likeness, unmatched_terms

# How many fresh calls that match a condition are made, and how many that lack one term of it; and
# how many are drawn at the most.
_TRIED, _MAX_DRAWS = 10, 2000
# The time limit in seconds, and how often causes are tried.
_SECONDS, _ROUNDS = 30.0, 2
# So few failures get calls that are like one of them, too.
_FEW = 4
# Kinds of failure that follow from other calls or declarations, or take too long.
_NOT_TRIED = {"uncredited", "undeclared", "state", "hang"}


def try_conditions(
    backend: SupervisedBackend,
    diagnosis: Diagnosis,
    find: Callable[[], Sequence[Cause]],
    left_out: Collection[str],
    fresh: dict[str, tuple[FreshCall, ...]],
) -> None:
    """Add calls to the `fresh` ones of each operator: they try its causes, and those that follow.

    `find` returns the causes so far. Operators can be left out.
    """
    end = time.monotonic() + _SECONDS
    tried: set[object] = set()
    for _ in range(_ROUNDS):
        by_operator: dict[str, list[Cause]] = {}
        for cause in find():
            # Failures that nothing explains yet get more calls that are like them.
            is_new = not cause.condition or (cause.operator, cause.condition) not in tried
            if is_new and cause.operator in diagnosis.specs and cause.operator not in left_out:
                by_operator.setdefault(cause.operator, []).append(cause)
                tried.add((cause.operator, cause.condition))
        for name, causes in by_operator.items():
            former = fresh.get(name, ())
            levels, drawn = diagnosis.levels_of(name), LevelledCalls(diagnosis.specs[name])
            fresh[name] = (*former, *_tried(backend, levels, drawn, causes, former, end))


def _tried(
    backend: SupervisedBackend,
    levels: CaseLevels,
    drawn: LevelledCalls,
    causes: Sequence[Cause],
    former: Collection[FreshCall],
    end: float,
) -> Iterator[FreshCall]:
    """Yield fresh calls that match the conditions of causes of one operator, or lack one term each.

    `former` calls are not made again, and none is made after the time `end`.
    """
    operator = levels.operator
    causes = [
        cause
        for cause in causes
        if operator.cases[cause.representative].expects == "outputs"
        and not _NOT_TRIED & set(cause.kinds)
    ]
    conditions = {condition_of(cause.condition) for cause in causes} - {()}
    wanted = Counter({(condition, lacks): _TRIED for condition in conditions for lacks in (0, 1)})
    # A condition of a few failures may be anything: calls that are like these narrow it down.
    few = [levels.points[cause.representative] for cause in causes if len(cause.cases) <= _FEW]
    alike: list[list[tuple[int, int]]] = [[] for _ in few]
    chosen: set[int] = set()
    made, support = {call.number for call in former}, declared_support(backend)
    for number in range(_MAX_DRAWS):
        if time.monotonic() > end or not (few or any(wanted.values())):
            break
        call = None if number in made else drawn.call(number)
        # What the backend declares as unsupported may give any result.
        if call is None or support.exclusion_reason(
            operator.index.operator, drawn.properties(call)
        ):
            continue
        if not (points := drawn.points(call, partial(drawn.candidate, number, call))):
            continue
        uses = [(condition, unmatched_terms(points, condition)) for condition in conditions]
        uses = [use for use in uses if wanted[use] > 0]
        wanted.subtract(uses)
        if uses:
            chosen.add(number)
        for target, ranked in zip(few, alike, strict=True):
            ranked.append((-likeness(points, target), number))
    numbers = {*chosen, *(n for ranked in alike for _, n in sorted(ranked)[:_TRIED])}
    for number in sorted(numbers):
        call = drawn.call(number)
        steps = [] if call is None or time.monotonic() > end else drawn.steps(number, call)
        session = Session(backend)
        fault = session.first_fault(steps)
        if steps and not session.declined:
            failure = None if fault is None else fault[1].kind
            outputs = [output for step in steps for output in step.golden or ()]
            shows = have_different_elements(outputs)
            yield FreshCall(number=number, failure=failure, shows=shows)
