"""Spec x suite -> strength: which faults the cases of an operator find.

This is a mutation score, with faults at the interface in place of mutants of the code. A fault
that fresh calls do not show does not count: it may be no fault at all.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, argument_of
from opcert.arrays.layouts import copy_in_layout
from opcert.arrays.patterns import materialize
from opcert.cases.candidates import Violation, violating_alone
from opcert.cases.conditions import Conditions
from opcert.cases.drawn import MAX_OUTPUT_ELEMENTS, GoldenCalls, draw_call, drawn_calls
from opcert.cases.mutations import Mutation, mutations_of
from opcert.choices import Choices, Replay, call_seed
from opcert.errors import ExpressionError, Inapplicable
from opcert.specification.files import Reference, SpecFile, call_reference, golden_outputs
from opcert.specification.model import Spec
from opcert.strength.effects import CORRUPTIONS, FinishedCall, Outputs, Steps, Turn, memory_faults
from opcert.strength.faults import Fault, drawn_fault, misreadings, systematic_faults
from opcert.suite.operator_suite import OperatorSuite
from opcert.system import limited

# Fresh calls have another seed than those of any suite is likely to have.
_SEED = 0x57E4617
# How many valid calls are drawn; each is preceded by one that differs in one choice, and followed
# by one that violates a requirement, as far as there are such.
_DRAWS = 600
# How many changes of a call are tried until one violates exactly one requirement.
_TRIED = 16


def _suite_calls(operator: OperatorSuite, reference: Reference) -> Iterator[FinishedCall]:
    """Yield the decisive calls of a suite in the order in which a certification makes them."""
    calls: dict[str, FinishedCall] = {}
    for case in operator.cases.values():
        if case.ambiguity is not None:
            continue
        inputs, attributes = operator.inputs(case), case.attributes
        if case.expects == "rejection":
            call = FinishedCall(inputs, attributes, None, case.violated_rule)
            # A baseline is decisive, too.
            yield from (call, call, calls[case.baseline or ""], call)
            continue
        inverted = operator.inputs(case, inverted_data=True)
        # Only the suite knows what elements may be that are open, or computed.
        if case.open_elements or any(getattr(r, "allowance", None) for r in case.outputs):
            outputs = [operator.outputs(case), operator.inverted_data_outputs(case)]
        else:
            outputs = [golden_outputs(reference, own, attributes) for own in (inputs, inverted)]
        calls[case.id] = call = FinishedCall(inputs, attributes, outputs[0])
        yield from (call, FinishedCall(inverted, attributes, outputs[1]), call)


def _fresh_calls(spec: Spec) -> Iterator[tuple[Call, str | None]]:
    """Yield calls that the document decides, each with the rule that it violates.

    They are drawn apart from those of any suite, and come in the order in which they are made.
    """
    conditions = Conditions(spec)
    changes: list[Mutation | Violation] = [*mutations_of(spec)]
    for rule in spec.rules:
        changes += rule.violations.values()
    for number, drawn, choices in islice(drawn_calls(spec, _SEED), _DRAWS):
        own, seed = Choices(call_seed("strength", number)), f"strength|{number}"
        if conditions.open_elements(drawn) or conditions.ambiguity(drawn):
            continue
        # The same data before and after, so that the calls differ in one respect alone.
        if (neighbour := _neighbour(conditions, choices, own)) is not None:
            yield neighbour.patterned(seed), None
        call = drawn.patterned(seed)
        yield call, None
        for k in range(_TRIED):
            change = own.pick(f"change {k}", changes)
            violation = violating_alone(conditions, change, call, own.integer("element", 0, 99))
            if violation is not None:
                yield violation[0].patterned(seed, only_new=True), violation[1]
                break


def _neighbour(conditions: Conditions, choices: Choices, own: Choices) -> Call | None:
    """Return a valid call that differs from another in one choice."""
    with suppress(ExpressionError, Inapplicable):
        replay = Replay(choices, own.one("anew", choices.levels), own.integer("seed", 0, 99))
        call = draw_call(conditions.spec, replay)
        is_decided = conditions.is_decided(call, MAX_OUTPUT_ELEMENTS)
        if is_decided and not conditions.open_elements(call):
            return call
    return None


def _finished(golden: GoldenCalls, call: Call, rule: str | None) -> FinishedCall:
    """Return a call with its arrays and golden outputs.

    Raises:
        SpecError: the reference contradicts the spec.
    """
    outputs = None
    if rule is None:
        arrays = golden.arrays(call)
        outputs = golden.outputs(call, arrays)
    else:
        arrays = {key: materialize(tensor) for key, tensor in call.inputs.items()}
    inputs = {key: copy_in_layout(array, call.inputs[key].layout) for key, array in arrays.items()}
    return FinishedCall(inputs, call.attributes, outputs, rule, str(call))


# How many faults at random count, and how many are drawn at most.
_FAULTS = 1000
_MOST_DRAWS = 100_000
# How many bytes a reference may allocate for a call of at most so many bytes; other calls are left
# out, so that all can be kept.
_ROOM, _MOST_BYTES = 1 << 27, 1 << 20
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Survivor:
    """A fault that no case finds: its effect, its conditions, and a call that shows it."""

    effect: str
    conditions: tuple[str, ...]
    call: str

    @property
    def text(self) -> str:
        """What is wrong, and where."""
        where = " and ".join(self.conditions)
        return f"{self.effect}, if {where}" if where else self.effect


@dataclass(frozen=True)
class Strength:
    """How many faults the cases of an operator find, of those at random and of systematic ones.

    `survivors` and `missed` are the others, the simplest first.
    """

    operator: str
    found: int
    survivors: tuple[Survivor, ...]
    systematic_found: int
    missed: tuple[Survivor, ...]

    @property
    def drawn(self) -> int:
        """How many faults at random count."""
        return self.found + len(self.survivors)

    @property
    def systematic(self) -> int:
        """How many systematic faults count."""
        return self.systematic_found + len(self.missed)

    @property
    def simplest(self) -> tuple[Survivor, ...]:
        """The simplest survivor of each effect, as far as the effect is not missed at all."""
        by_effect = {survivor.effect: survivor for survivor in reversed(self.survivors)}
        for survivor in self.missed:
            by_effect.pop(survivor.effect, None)
        return tuple(sorted(by_effect.values(), key=_simplicity))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 % confidence of the share of faults at random that cases find.

        Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
        """
        if not self.drawn:
            return 0.0, 1.0
        z, n = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2), self.drawn
        share = self.found / n
        middle = share + z * z / (2 * n)
        half = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    @property
    def percent(self) -> str:
        """The interval in words."""
        least, most = (100 * end for end in self.interval)
        return f"{least:.1f} to {most:.1f} %"


def _simplicity(survivor: Survivor) -> tuple[int, int]:
    return len(survivor.conditions), len(survivor.text)


@np.errstate(all="ignore")
def measure_strength(spec_file: SpecFile, operator: OperatorSuite) -> Strength:
    """Return which faults the cases of an operator find.

    Raises:
        SpecError: the reference contradicts the spec on a fresh call.
    """
    spec, golden = spec_file.spec, GoldenCalls(spec_file)
    drawn_calls = [*_fresh_calls(spec)]
    # The inputs whose elements the operator only moves.
    data = frozenset(
        argument_of(key)
        for call, rule in drawn_calls
        for key, tensor in call.inputs.items()
        if tensor.values is None and rule is None
    )
    finished = (_finished(golden, call, rule) for call, rule in drawn_calls)
    fresh, cases = (
        Steps(spec, data, [call for call in calls if call.nbytes <= _MOST_BYTES])
        for calls in (finished, _suite_calls(operator, spec_file.reference))
    )
    # It may get a number of billions in place of a small one.
    reference = limited(spec_file.reference, memory=_ROOM)
    # Of this measurement: it keeps the calls.
    shows = cache(lambda effect, turn: effect.shows(turn))

    def step_of(fault: Fault, steps: Steps) -> int | None:
        """Return a step in which a fault shows, one with small arrays; None if no step does."""
        effect = fault.effect
        acting = np.flatnonzero(fault.acts(steps))
        smallest_first: list[int] = acting[np.argsort(steps.nbytes[acting], kind="stable")].tolist()
        for step in smallest_first:
            before = steps.before(step) if effect.uses_before else None
            if shows(effect, Turn(steps.calls[step], before, run)):
                return step
        return None

    def run(arguments: Mapping[str, Any]) -> Outputs:
        return call_reference(reference, {}, arguments)

    def survivor(fault: Fault, step: int) -> Survivor:
        text = fresh.calls[step].text
        if fault.uses_before and (before := fresh.before(step)) is not None:
            text = f"{text}, after {before.text}"
        return Survivor(fault.effect.text, tuple(each.text for each in fault.conditions), text)

    misread, remember = [*misreadings(spec, data)], [*memory_faults(spec, data)]
    found, missed, visible = 0, [], {*CORRUPTIONS}
    for fault in systematic_faults(spec, data, (*misread, *remember), fresh):
        if step_of(fault, cases) is not None:
            found += 1
        elif (step := step_of(fault, fresh)) is not None:
            missed.append(survivor(fault, step))
        else:
            continue
        visible.add(fault.effect)
    # What shows in no call shows in no part of them. Half of the faults corrupt outputs or memory,
    # though there are more ways to misread.
    kinds = [*CORRUPTIONS, *remember], misread
    of_kinds = [[effect for effect in kind if effect in visible] for kind in kinds]
    numbered = (Choices(call_seed("fault", k)) for k in range(_MOST_DRAWS))
    drawn = (drawn_fault(choices, of_kinds, fresh) for choices in numbered)
    steps = ((f, step) for f in drawn if f and (step := step_of(f, fresh)) is not None)
    counted = [*islice(steps, _FAULTS)]
    survivors = [survivor(f, step) for f, step in counted if step_of(f, cases) is None]
    survivors.sort(key=_simplicity)
    found_at_random = len(counted) - len(survivors)
    return Strength(spec.operator, found_at_random, tuple(survivors), found, tuple(missed))
