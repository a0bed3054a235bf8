"""Spec -> cases: the examples, the calls that the factors draw, each way of breaking a rule."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from opcert.generator.calls import BUILDERS, CHANGES, Call, Tensor
from opcert.generator.choices import Row
from opcert.generator.conditions import Conditions
from opcert.generator.drawing import InputSpace
from opcert.generator.errors import ExpressionError, Inapplicable, Mistake, SpecError
from opcert.generator.expressions import FUNCTIONS, evaluate, parse
from opcert.generator.siblings import with_other_data, with_other_values
from opcert.generator.sight import Sights
from opcert.generator.spec import DocumentedTensor, Example
from opcert.generator.spec_files import SpecFile
from opcert.generator.yaml_source import SpecPath

Change = Mapping[str, str]

# How many valid calls each way of breaking a rule is applied to.
TWINS = 4
# How many twins are weighed for the place of one.
CHOICE = 4
# How many valid calls get another one of the same signature, in each way that there is.
SIBLINGS = 12
# The t of each profile's t-way covering array.
STRENGTH = {"core": 2, "full": 3, "stress": 2}
# How often a call is drawn until its levels show.
DRAWS = 256


@dataclass(frozen=True)
class Case:
    """One call, what it expects, and why it exists.

    `place` is the part of the spec that it comes from. `rejects` is the rule that the call breaks,
    with `twin` the valid case it is one change away from; without it the call is valid. `rules`
    are those it exercises, `levels` the level of each factor. A case with an `ambiguity` expects
    what the reference does, and never decides a certificate.
    """

    id: str
    call: Call
    place: SpecPath
    why: str
    rules: tuple[str, ...]
    levels: Mapping[str, str] = field(default_factory=dict)
    rejects: str | None = None
    twin: str | None = None
    ambiguity: str | None = None
    feature_levels: tuple[str, ...] = ()
    example: Example | None = None


def cases_of(spec_file: SpecFile, profile: str, seed: int) -> list[Case]:
    """Return every case of a spec, twins first: the same for the same spec, profile and seed.

    Raises:
        SpecError: with every mistake that the draws bring out.
    """
    author = _Author(spec_file, profile, seed)
    valid = [*author.examples(), *author.drawn()]
    author.stop_at_mistakes()
    twins = [case for case in valid if case.ambiguity is None]
    changed = [*author.siblings(twins), *author.rejected(twins), *author.ambiguous(twins)]
    author.stop_at_mistakes()
    return _in_order(valid, changed)


def _in_order(valid: Sequence[Case], changed: Sequence[Case]) -> list[Case]:
    """Return documented calls first, then calls of one signature together, the types by turns.

    Behind each valid call stand those that are one change away from it.
    """
    behind: defaultdict[str | None, list[Case]] = defaultdict(list)
    for case in changed:
        behind[case.twin].append(case)
    first = sorted(valid, key=lambda case: (case.example is None, _signature(case)))
    return [each for case in first for each in (case, *behind[case.id])]


def _signature(case: Case) -> str:
    return "" if case.example else digest(str(case.call.signature))


def digest(text: str) -> str:
    """Return the eight hexadecimal digits that tell ids apart."""
    return sha256(text.encode()).hexdigest()[:8]


def patterned(call: Call, seed: str) -> Call:
    """Give each tensor of `call` that a pattern fills a pattern of its own."""
    inputs = {
        name: replace(tensor, pattern=f"{seed}|{name}") if tensor.values is None else tensor
        for name, tensor in call.inputs.items()
    }
    return Call(inputs, call.attributes)


def after(conditions: Conditions, valid: Call, change: Change) -> Call | None:
    """Return a valid call with a change, or None where it does not admit it.

    Raises:
        ExpressionError: the change cannot be evaluated.
    """
    names, defaults = conditions.names(valid), conditions.spec.defaults
    call = valid
    for target, text in change.items():
        expression = parse(text)
        if any(names[each] is None for each in expression.names & defaults.keys()):
            return None
        try:
            value = evaluate(expression, names, {**FUNCTIONS, **BUILDERS, **CHANGES})
        except Inapplicable:
            return None
        call = call.changed(target, value, tuple(defaults))
    return call if call != valid else None


def _documented(each: DocumentedTensor) -> Tensor:
    tensor = Tensor(each.type, each.shape, each.values)
    if each.element is None:
        return tensor
    element = parse(each.element)
    values = (evaluate(element, {"i": i}, FUNCTIONS) for i in range(tensor.size))
    return replace(tensor, values=tuple(values))


class _Author:
    """Writes the cases of one spec, and keeps the first mistake of each place."""

    def __init__(self, spec_file: SpecFile, profile: str, seed: int) -> None:
        self.file = spec_file
        self.spec = spec_file.spec
        self.profile = profile
        self.seed = seed
        self.sights = Sights(spec_file.spec, profile)
        self.conditions = Conditions(spec_file.spec)
        self.mistakes: dict[SpecPath, Mistake] = {}
        # By number of a rule: the levels of the twins of what breaks it.
        self.broken: defaultdict[object, set[tuple[str, str]]] = defaultdict(set)

    def stop_at_mistakes(self) -> None:
        if self.mistakes:
            raise SpecError([*self.mistakes.values()])

    def examples(self) -> Iterator[Case]:
        for i, example in enumerate(self.spec.examples):
            why = f"{example.clause}: {example.text}"
            with self.noting(("examples", i)):
                inputs = {name: _documented(each) for name, each in example.inputs.items()}
                call = Call(inputs, example.attributes)
                yield self.valid(example.id, call, ("examples", i), why, example=example)

    def drawn(self) -> Iterator[Case]:
        rows: list[Row] = []
        with self.noting(("cases", "factors")):
            space = InputSpace(self.spec, self.profile)
            rows = space.rows(STRENGTH[self.profile])
        for row in rows:
            levels = space.level_names(row)
            pairs = [f"{factor}={level}" for factor, level in levels.items()]
            name = "-".join(["valid", *[*levels.values()][:2], digest(" ".join(sorted(pairs)))])
            with self.noting(("cases", "draw"), f", drawn for {', '.join(pairs)}"):
                call = self.showing(space, row, f"{self.seed}|{self.spec.full_id(name)}")
                yield self.valid(name, call, ("cases", "draw"), "its levels", levels=levels)

    def showing(self, space: InputSpace, row: Row, seed: str) -> Call:
        """Draw the call of `row`, again and again until each of its levels shows in it."""
        unseen = []
        for attempt in range(DRAWS):
            call = space.call(row, f"{seed}|{attempt}" if attempt else seed)
            unseen = self.sights.unseen(call, space.level_names(row))
            if not unseen:
                return call
        levels = ", ".join(f"{each}={space.level_names(row)[each]}" for each in unseen)
        raise ExpressionError(f"{levels} does not show in {call}", ("cases", "seen", unseen[0]))

    def valid(self, name: str, call: Call, place: SpecPath, why: str, **more: Any) -> Case:
        """Return the case of a valid call, whose patterns are its own."""
        identity = self.spec.full_id(name)
        call = patterned(call, f"{self.seed}|{identity}")
        standing = self.conditions.standing(call)
        if standing.broken:
            rules = ", ".join(standing.broken)
            raise ExpressionError(f"{identity} is to be valid and breaks {rules}: {call}")
        return Case(
            identity,
            call,
            place,
            why,
            self.full_ids(*standing.kept, *self.conditions.behaviours(call)),
            ambiguity=self.conditions.ambiguity(call),
            feature_levels=self.feature_levels(call),
            **more,
        )

    def siblings(self, twins: Sequence[Case]) -> Iterator[Case]:
        """Yield valid cases of the same signature as another."""
        calls = [case.call for case in twins]
        ways: dict[str, Callable[[Call], Iterator[Call]]] = {
            "other-values": lambda call: with_other_values(call, calls),
            "other-data": lambda call: with_other_data(call, self.conditions.outputs(call)),
        }
        for way, changed in ways.items():
            found = 0
            for twin in sorted(twins, key=lambda case: digest(f"{way}|{case.id}")):
                call = None
                # What cannot be evaluated is told where goldens are proved.
                with suppress(ExpressionError, Inapplicable):
                    call = next(filter(self.is_plain, changed(twin.call)), None)
                if call and found < SIBLINGS:
                    found += 1
                    rules = self.conditions.behaviours(call)
                    yield self.one_change(twin, call, ("cases", "draw"), way, rules)

    def is_plain(self, call: Call) -> bool:
        """Whether `call` is valid and touches no ambiguity."""
        return not self.conditions.standing(call).broken and not self.conditions.ambiguity(call)

    def rejected(self, twins: Sequence[Case]) -> Iterator[Case]:
        """Yield cases that break one rule alone, for each way of breaking it."""
        for i, rule in enumerate(self.spec.rules):
            for way, change in rule.broken_by.items():
                place = ("rules", i, "broken_by", way)
                kind = f"{rule.id}.{way}"
                for twin, call in self.changed(twins, kind, change, place, None, rule.id):
                    yield self.one_change(twin, call, place, kind, (rule.id,), rejects=rule.id)

    def ambiguous(self, twins: Sequence[Case]) -> Iterator[Case]:
        """Yield cases that touch an ambiguity, for each way of showing it."""
        for i, each in enumerate(self.spec.ambiguities):
            for way, change in each.shown_by.items():
                place = ("ambiguities", i, "shown_by", way)
                kind = f"{each.id}.{way}"
                for twin, call in self.changed(twins, kind, change, place, each.id):
                    broken = self.conditions.standing(call).broken
                    rules = broken or self.conditions.behaviours(call)
                    rejects = broken[0] if broken else None
                    yield self.one_change(twin, call, place, kind, rules, rejects, each.id)

    def one_change(
        self,
        twin: Case,
        call: Call,
        place: SpecPath,
        kind: str,
        rules: Sequence[str],
        rejects: str | None = None,
        ambiguity: str | None = None,
    ) -> Case:
        return Case(
            self.spec.full_id(f"{kind}-{digest(twin.id)}"),
            call,
            place,
            "one change to its twin",
            self.full_ids(*rules),
            rejects=rejects and self.spec.full_id(rejects),
            twin=twin.id,
            ambiguity=ambiguity,
            feature_levels=twin.feature_levels,
        )

    def changed(
        self,
        twins: Sequence[Case],
        kind: str,
        change: Change,
        place: SpecPath,
        ambiguity: str | None,
        breaks: str | None = None,
    ) -> list[tuple[Case, Call]]:
        """Return up to `TWINS` changed calls that touch `ambiguity` and break `breaks` alone.

        The twins are asked in an order of the change's own, so that a new case among them moves
        few others; the types of the changed argument take turns, and a twin with levels that the
        rule is not broken with yet comes before others.
        """
        found: list[tuple[Case, Call]] = []
        seen = self.broken[place[1]]
        waiting: list[Iterator[tuple[Case, Call]]] = [
            self.applied(line, change, place, ambiguity, breaks)
            for line in self.by_type(twins, kind, change)
        ]
        while waiting and len(found) < TWINS and place not in self.mistakes:
            line = waiting.pop(0)
            some = list(islice(line, CHOICE))
            if some:
                best = max(some, key=lambda each: len(each[0].levels.items() - seen))
                some.remove(best)
                seen |= best[0].levels.items()
                found.append(best)
                waiting.append(chain(some, line))
        # Under stress there are fewer calls, of other sizes.
        if not found and self.profile != "stress":
            text = f"'{kind}' applies to no call: no valid call becomes one that does this alone"
            self.mistakes.setdefault(place, self.file.mistake(place, text))
        return found

    def applied(
        self,
        twins: Sequence[Case],
        change: Change,
        place: SpecPath,
        ambiguity: str | None,
        breaks: str | None,
    ) -> Iterator[tuple[Case, Call]]:
        """Yield the changed calls that touch `ambiguity` and break `breaks` alone."""
        for twin in twins:
            with self.noting(place, f", in a change to {twin.id}"):
                call = after(self.conditions, twin.call, change)
                if call is None or self.conditions.ambiguity(call) != ambiguity:
                    continue
                if breaks is None or self.conditions.standing(call).broken == (breaks,):
                    yield twin, call

    def by_type(self, twins: Sequence[Case], kind: str, change: Change) -> list[list[Case]]:
        """Return the twins by the type of what changes, all in an order by chance."""
        lines: defaultdict[str, list[Case]] = defaultdict(list)
        for twin in sorted(twins, key=lambda case: digest(f"{kind}|{case.id}")):
            lines[self.type_of(twin.call, change)].append(twin)
        return [*lines.values()]

    def type_of(self, call: Call, change: Change) -> str:
        """Return the type of the changed input, or of the first where an attribute changes."""
        changed = [call.inputs[name] for name in change if name in call.inputs]
        return (changed or [call.inputs[self.spec.leading.name]])[0].type

    def feature_levels(self, call: Call) -> tuple[str, ...]:
        """Return the feature levels whose table has the first input's rank and type."""
        first = call.inputs[self.spec.leading.name]
        return tuple(
            level.name
            for level in self.spec.feature_levels
            if level.ranks[0] <= first.rank <= level.ranks[1] and first.type in level.types
        )

    def full_ids(self, *names: str) -> tuple[str, ...]:
        return tuple(map(self.spec.full_id, names))

    @contextmanager
    def noting(self, place: SpecPath, context: str = "") -> Iterator[None]:
        """Keep what goes wrong inside as a mistake of the spec, and go on behind it."""
        try:
            yield
        except (ExpressionError, Inapplicable) as error:
            at = getattr(error, "place", ()) or place
            self.mistakes.setdefault(at, self.file.mistake(at, f"{error}{context}"))
