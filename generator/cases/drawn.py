"""Spec -> valid calls, drawn at random, and neighbours, which differ from them in one respect.

Each call has a seed of its own, and none is chosen. How many there are, and which values they
offer, decides what a suite finds; to choose among calls by their levels is worth a factor of two in
calls, and costs more than that.

A runtime may keep a plan, a buffer or a result under an incomplete key. What it keeps of a call is
then wrong for a neighbour of the call, and for no other. Most neighbours are replays: the same draw
with one choice answered anew, or some choices of one argument. Two edits give what no draw offers.
"""

import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from opcert.arrays.calls import Call, Tensor, flatten_variadic
from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array, digest_of, same_bytes
from opcert.arrays.patterns import MAX_STORED_BYTES, materialize, with_special_values
from opcert.cases.case import Case, Change, short_digest
from opcert.cases.conditions import Conditions, are_small
from opcert.cases.formulas import ElementFormulas
from opcert.choices import Choices, Replay, belongs, call_seed
from opcert.errors import ExpressionError, Inapplicable, OpcertError, SpecError, abbreviate
from opcert.roles.argument import Attribute, is_plain_value
from opcert.roles.drawing import Drawing
from opcert.settings import Profile
from opcert.specification.expressions import evaluate, names_in
from opcert.specification.files import Reference, SpecFile, golden_outputs
from opcert.specification.model import Spec

# What the name of a drawn case has: the type and the rank of its first input, and its number.
_DRAWN = re.compile(r"drawn-[a-z0-9]+-\d+-(\d{6,})")
# So many draws in a row may give no valid call.
_PATIENCE = 2000
# The outputs of a drawn call have at most so many elements.
MAX_OUTPUT_ELEMENTS = 1 << 21


def drawn_id(spec: Spec, call: Call, number: int) -> str:
    """Return the id of the case of a call that a suite's seed draws under a number."""
    first = call.inputs[spec.leading_key]
    return spec.full_id(f"drawn-{first.type}-{first.rank}-{number:06}")


def pattern_seed(seed: int, case: str) -> str:
    """Return the seed of the data patterns of a suite's case, and of calls made from it."""
    return f"{seed}|{case}"


def drawn_number(case: str) -> int | None:
    """Return the number under which a suite's seed draws a case; None if it does not draw it."""
    match = _DRAWN.fullmatch(case.rpartition("/")[2])
    return None if match is None else int(match[1])


def draw_call(spec: Spec, choices: Choices, *, large: bool = False) -> Call:
    """Draw one call, which need not be valid.

    Raises:
        Inapplicable: a choice has no option.
    """
    roles = {role.name: role for role in spec.bound_roles}

    def evaluate_over_arguments(text: str) -> Any:
        named = dict(spec.fixed_names)
        for name in names_in(text, spec.names) & roles.keys():
            value = drawing.fact(roles[name].draw)
            named[name] = spec.defaults[name] if value is None else value
        return evaluate(text, named, values=spec.names)

    drawing = Drawing(choices, evaluate_over_arguments, large=large)
    drawn = {role.name: drawing.fact(role.draw) for role in spec.bound_roles}
    for attribute in spec.attributes:
        if isinstance(attribute, Attribute) and attribute.value is not None:
            value = evaluate_over_arguments(attribute.value)
            if value is not None and not is_plain_value(value, attribute.type):
                problem = f"{abbreviate(value)}; expected a value of type {attribute.type}"
                place = ("attributes", spec.attributes.index(attribute), "value")
                raise ExpressionError(problem, place)
            drawn[attribute.name] = value
    inputs, attributes = (
        {item.name: drawn[item.name] for item in declared if drawn.get(item.name) is not None}
        for declared in (spec.inputs, spec.attributes)
    )
    return Call(flatten_variadic(inputs), attributes)


class GoldenCalls:
    """Makes the arrays of drawn calls of one operator, and their golden outputs."""

    def __init__(self, file: SpecFile) -> None:
        self._file, self._formulas = file, ElementFormulas(file)

    def arrays(self, call: Call) -> dict[str, Array]:
        """Return the inputs of a call in C order, with special values that reach the outputs.

        Raises:
            SpecError: the reference rejects the call.
        """
        arrays = {key: materialize(tensor) for key, tensor in call.inputs.items()}
        with self._located(call):
            golden = golden_outputs(self._file.reference, arrays, call.attributes)
        return with_special_values(arrays, call.inputs, golden)

    def outputs(self, call: Call, arrays: Mapping[str, Array]) -> list[Array]:
        """Return the golden outputs of a call, with what else their elements may be.

        Raises:
            SpecError: the reference rejects the call, or contradicts a formula.
        """
        with self._located(call):
            outputs = golden_outputs(self._file.reference, arrays, call.attributes)
            return self._formulas.with_open_elements(call, arrays, outputs)

    @contextmanager
    def _located(self, call: Call) -> Iterator[None]:
        try:
            yield
        except OpcertError as error:
            place = error.place if isinstance(error, ExpressionError) else ("reference",)
            raise SpecError([self._file.mistake(place, f"{error}, for {call}")]) from None


def choices_of(spec: Spec, seed: int, number: int) -> Choices:
    """Return what answers the choices of the call with a number."""
    first = call_seed(spec.operator, seed)
    return Choices(call_seed(spec.operator, seed, number), first + number)


def drawn_calls(
    spec: Spec, seed: int, *, large: bool = False, conditions: Conditions | None = None
) -> Iterator[tuple[int, Call, Choices]]:
    """Yield valid calls without end, each with its number and the choices that drew it.

    A call depends on the seed and its number alone. The numbers of draws without a valid call are
    left out. `conditions` are those of the spec, where the caller has them.

    Raises:
        ExpressionError: many draws in a row give no valid call.
    """
    conditions = Conditions(spec) if conditions is None else conditions
    last, reason = -1, ""
    for number in count():
        if number - last > _PATIENCE:
            text = f"{_PATIENCE:,} draws in a row gave no valid call; of the last one, {reason}"
            raise ExpressionError(text, ("inputs",))
        choices = choices_of(spec, seed, number)
        try:
            call = draw_call(spec, choices, large=large)
        except Inapplicable as error:
            reason = str(error)
            continue
        if violated := conditions.check(call).violated:
            reason = f"{call} violates {', '.join(violated)}"
        elif not conditions.has_small_outputs(call, MAX_OUTPUT_ELEMENTS):
            reason = f"the outputs of {call} have too many elements"
        else:
            last = number
            yield number, call, choices


# How many baselines are tried in a respect; of a single choice, since there are many, few are.
_MAX_BASELINES, _FEW_BASELINES = 400, 20
# How many replays of a baseline are tried.
_REPLAYS = 2
# A neighbour has at most so many elements of inputs and outputs, for it is computed to compare it.
_MAX_ELEMENTS = 1 << 14
# Data of fewer bytes is likely to be compared whole by a runtime that recognises it.
_COMPARED_BYTES = 256
_OTHER_SIGNEDNESS = str.maketrans("iu", "ui")
# Whether outputs are equal; how many arguments differ; and whether outputs are not of the same size
# in another shape. A key that lacks one argument confuses calls that differ in no other, and only
# other outputs show it. One that has a size in place of a shape needs outputs of the same size.
_Rank = tuple[bool, int, bool]
_IDEAL = (False, 1, False)
# The shapes and the digests of the outputs of a call.
_Outputs = tuple[list[tuple[int, ...]], list[str]]
# How many arguments of a call differ from its baseline, the number of the call, its baseline, it.
_Pair = tuple[int, int, Case, Call]


@dataclass(eq=False)
class Neighbours:
    """Builds the neighbours of the drawn calls of one spec."""

    reference: Reference
    conditions: Conditions
    profile: Profile
    seed: int
    baselines: Sequence[Case]

    def __post_init__(self) -> None:
        # By case, since each is a baseline in many respects.
        self._baseline_outputs: dict[str, _Outputs] = {}
        self._drawn = [(case, case.choices) for case in self.baselines if case.choices is not None]

    def cases(self) -> Iterator[Case]:
        """Yield the best neighbours in each respect, as many as the profile says."""
        yield from self._best("half of data", self._edits(_with_other_half))
        yield from self._best("signedness", self._edits(_with_other_signedness))
        arguments = [argument.name for argument in self.conditions.spec.arguments]
        for anew in arguments:
            yield from self._best(anew, self._replays(anew, _MAX_BASELINES))
        for anew in dict.fromkeys(name for _, choices in self._drawn for name in choices.levels):
            yield from self._best(anew, self._replays(anew, _FEW_BASELINES))

    def _best(self, respect: str, pairs: Iterable[tuple[Case, Call]]) -> Iterator[Case]:
        """Yield the best of the calls, each with its baseline, as neighbours."""
        spec, most = self.conditions.spec, self.profile.neighbours
        ranked: list[tuple[_Rank, int, Case, Call]] = []
        for differing, number, baseline, call in _by_difference(pairs):
            # Expressions that fail are reported where golden outputs are checked.
            with suppress(OpcertError, Inapplicable):
                if self._is_suitable(call):
                    rank = self._rank(differing, baseline, call)
                    insort(ranked, (rank, number, baseline, call))
                    # No call that follows is better.
                    best_to_come = max(_IDEAL, (False, differing, False))
                    if len(ranked) >= most and ranked[most - 1][0] <= best_to_come:
                        break
        kind = f"other-{respect.replace(' ', '-')}"
        for _, number, baseline, call in ranked[:most]:
            yield Case(
                spec.full_id(f"{kind}-{short_digest(f'{baseline.id}|{number}')}"),
                call,
                (),
                spec.full_ids(*self.conditions.behaviours(call)),
                baseline=baseline.id,
                change=Change(kind),
                feature_levels=baseline.feature_levels,
            )

    def _replays(self, anew: str, most: int) -> Iterator[tuple[Case, Call]]:
        spec, large = self.conditions.spec, self.profile.large
        baselines = (
            (case, choices)
            for case, choices in self._shuffled(anew)
            if any(belongs(name, anew) for name in choices.levels)
        )
        for baseline, choices in islice(baselines, most):
            for number in range(_REPLAYS):
                with suppress(OpcertError, Inapplicable):
                    replay = Replay(choices, anew, call_seed(baseline.id, number))
                    call = draw_call(spec, replay, large=large)
                    yield baseline, call.patterned(pattern_seed(self.seed, baseline.id))

    def _edits(self, edit: Callable[[Call], Iterator[Call]]) -> Iterator[tuple[Case, Call]]:
        for baseline, _ in self._shuffled(edit.__name__)[:_MAX_BASELINES]:
            for call in edit(baseline.call):
                yield baseline, call

    def _shuffled(self, respect: str) -> list[tuple[Case, Choices]]:
        seed = f"{self.seed}|{respect}"
        return sorted(self._drawn, key=lambda drawn: short_digest(f"{seed}|{drawn[0].id}"))

    def _is_suitable(self, call: Call) -> bool:
        """Whether a call is valid in every reading, decided in every element, and small."""
        conditions = self.conditions
        if conditions.check(call).violated or conditions.ambiguity(call):
            return False
        tensors = (*call.inputs.values(), *conditions.outputs(call))
        return are_small(tensors, _MAX_ELEMENTS) and not conditions.open_elements(call)

    def _rank(self, differing: int, baseline: Case, call: Call) -> _Rank:
        if baseline.id not in self._baseline_outputs:
            self._baseline_outputs[baseline.id] = self._outputs(baseline.call)
        former, own = self._baseline_outputs[baseline.id], self._outputs(call)
        shapes, other_shapes = former[0], own[0]
        has_other_sizes = [*map(prod, shapes)] != [*map(prod, other_shapes)]
        return former == own, differing, shapes == other_shapes or has_other_sizes

    def _outputs(self, call: Call) -> _Outputs:
        arrays = {key: materialize(tensor) for key, tensor in call.inputs.items()}
        outputs = golden_outputs(self.reference, arrays, call.attributes)
        return [output.shape for output in outputs], [*map(digest_of, outputs)]


def _by_difference(pairs: Iterable[tuple[Case, Call]]) -> Iterator[_Pair]:
    """Yield the pairs that differ in one argument as they come, then the others, the fewest first.

    Those that do not differ, and large calls, are left out.
    """
    others: list[_Pair] = []
    for number, (baseline, call) in enumerate(pairs):
        if call != baseline.call and are_small(call.inputs.values(), _MAX_ELEMENTS):
            pair = _differing(baseline.call, call), number, baseline, call
            if pair[0] > 1:
                others.append(pair)
            else:
                yield pair
    yield from sorted(others, key=itemgetter(0))


def _differing(one: Call, other: Call) -> int:
    """Return in how many arguments calls differ; types are no difference if the bytes are equal."""
    arguments, others = ({**call.inputs, **call.attributes} for call in (one, other))
    return sum(_differ(arguments.get(k), others.get(k)) for k in {**arguments, **others})


def _differ(one: Any, other: Any) -> bool:
    are_alike = isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape
    return one != other and not (are_alike and same_bytes(materialize(one), materialize(other)))


def _with_other_half(call: Call) -> Iterator[Call]:
    """Yield the call with the second half of its data inverted.

    A runtime that recognises data by its beginning does not notice the difference.
    """
    for name, tensor in call.inputs.items():
        if tensor.values is None and _COMPARED_BYTES <= tensor.nbytes <= MAX_STORED_BYTES:
            yield call.changed(name, replace(tensor, second_half_inverted=True))


def _with_other_signedness(call: Call) -> Iterator[Call]:
    """Yield the call with the same bytes of its integers, read with a sign or without one."""
    inputs = {**call.inputs}
    for key, tensor in inputs.items():
        if tensor.values is not None and tensor.type in INTEGERS:
            other = tensor.type.translate(_OTHER_SIGNEDNESS)
            array = np.array(tensor.values, ELEMENT_TYPES[tensor.type])
            values = array.view(ELEMENT_TYPES[other]).tolist()
            inputs[key] = replace(tensor, type=other, values=tuple(values))
    yield Call(inputs, call.attributes)
