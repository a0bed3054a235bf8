"""Spec x suite -> strength: which faults the cases of an operator find.

This is a mutation score, with faults at the interface in place of mutants of the code. A fault
that fresh calls do not show does not count: it may be no fault at all.
"""

from dataclasses import dataclass
from itertools import islice
from math import sqrt
from statistics import NormalDist

import numpy as np

from opcert.choices import Choices, call_seed
from opcert.run.comparison import compare_outputs
from opcert.specification.files import SpecFile, call_reference
from opcert.strength.calls import FreshCalls, suite_calls
from opcert.strength.effects import CORRUPTIONS, Effect, Turn, memory_faults
from opcert.strength.facts import FinishedCall, Outputs, Steps
from opcert.strength.faults import Fault, FaultDraw, systematic_faults
from opcert.strength.misreadings import misreadings
from opcert.suite.operator_suite import OperatorSuite
from opcert.system import limited

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


def measure_strength(spec_file: SpecFile, operator: OperatorSuite) -> Strength:
    """Return which faults the cases of an operator find.

    Raises:
        SpecError: the reference contradicts the spec on a fresh call.
    """
    with np.errstate(all="ignore"):
        return _Measurement(spec_file, operator).strength()


class _Measurement:
    """The faults of one operator, on the cases of its suite and on fresh calls."""

    def __init__(self, file: SpecFile, operator: OperatorSuite) -> None:
        self._file = file
        fresh = FreshCalls(file)
        self._data = fresh.data
        self._fresh, self._cases = (
            Steps(file.spec, fresh.data, [call for call in calls if call.nbytes <= _MOST_BYTES])
            for calls in (fresh.calls, suite_calls(operator, file.reference))
        )
        # It may get a number of billions in place of a small one.
        self._reference = limited(file.reference, memory=_ROOM)
        # Whether an effect shows in a step, by all that it depends on.
        self._shows: dict[tuple[Effect, Steps, int | FinishedCall], bool] = {}

    def strength(self) -> Strength:
        """Return the strength."""
        spec, data = self._file.spec, self._data
        misread = [*misreadings(spec, data)]
        remember = [*memory_faults(spec, data)]
        found, missed = 0, []
        visible = {*CORRUPTIONS}
        for fault in systematic_faults(spec, data, (*misread, *remember), self._fresh):
            if self._step(fault, self._cases) is not None:
                found += 1
            elif (step := self._step(fault, self._fresh)) is not None:
                missed.append(self._survivor(fault, step))
            else:
                continue
            visible.add(fault.effect)
        # What shows in no call shows in no part of them. Half of the faults corrupt outputs or
        # memory, though there are more ways to misread.
        kinds = [*CORRUPTIONS, *remember], misread
        draw = FaultDraw([[e for e in kind if e in visible] for kind in kinds], self._fresh)
        drawn = (draw.draw(Choices(call_seed("fault", k))) for k in range(_MOST_DRAWS))
        steps = ((f, step) for f in drawn if f and (step := self._step(f, self._fresh)) is not None)
        counted = [*islice(steps, _FAULTS)]
        survivors = [
            self._survivor(fault, step)
            for fault, step in counted
            if self._step(fault, self._cases) is None
        ]
        survivors.sort(key=_simplicity)
        return Strength(
            spec.operator, len(counted) - len(survivors), tuple(survivors), found, tuple(missed)
        )

    def _step(self, fault: Fault, steps: Steps) -> int | None:
        """Return a step in which a fault shows, one with small arrays; None if no step does."""
        effect = fault.effect
        acting = np.flatnonzero(fault.acts(steps))
        smallest_first: list[int] = acting[np.argsort(steps.nbytes[acting], kind="stable")].tolist()
        for step in smallest_first:
            key = effect, steps, step if effect.uses_before else steps.calls[step]
            if key not in self._shows:
                turn = Turn(steps.calls[step], steps.before(step), self._run)
                self._shows[key] = _shows(effect, turn)
            if self._shows[key]:
                return step
        return None

    def _survivor(self, fault: Fault, step: int) -> Survivor:
        text = self._fresh.calls[step].text
        if fault.uses_before and (before := self._fresh.before(step)) is not None:
            text = f"{text}, after {before.text}"
        return Survivor(fault.effect.text, tuple(each.text for each in fault.conditions), text)

    def _run(self, call: FinishedCall) -> Outputs:
        return call_reference(self._reference, call.inputs, call.attributes)


def _shows(effect: Effect, turn: Turn) -> bool:
    """Whether a caller sees an effect: a valid call fails, or an invalid one is accepted."""
    golden = turn.call.outputs
    try:
        outputs = effect.apply(turn)
    except (Exception, SystemExit):
        # Whatever an author's reference raises is a rejection.
        return golden is not None
    if outputs is None:
        return False
    return golden is None or compare_outputs(golden, outputs) is not None
