"""Cases of the shipped specs, and of copies of one that was edited."""

import re
from collections import Counter
from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest

from opcert.arrays.calls import Call, argument_of, group_variadic
from opcert.cases.case import Case
from opcert.cases.conditions import Conditions
from opcert.cases.generation import generate_cases
from opcert.cases.mutations import mutations_of
from opcert.errors import SpecError
from opcert.roles.data import DataRole
from opcert.settings import PROFILES
from opcert.specification.files import SpecFile, read_spec
from opcert.suite import spec_check
from tests.command_line import opcert
from tests.shipped import (
    SPECS,
    cases,
    each_moving_spec_at_length,
    each_spec_at_length,
    spec,
    vectors,
)

pytestmark = pytest.mark.usefixtures("few_calls")
SMALLEST = SPECS["DML_OPERATOR_SPLIT"]

EXAMPLE = """\
examples:
  - id: example-0
    clause: Added
    text: Nothing that another case has to do with.
    inputs:
      InputTensor: u8[3]
    attributes:
      OutputCount: 1
      OutputTensors: [{Sizes: [3], DataType: UINT8}]
      Axis: 0
    outputs:
      - u8[3]
"""
# Operators with few arguments and few rules that can be violated have fewer strata than 100.
FEWER_STRATA = {"Concat-1": 80, "Tile-1": 20}
NO_TENSORS = 'no-tensors: {OutputCount: "0", OutputTensors: "[]"}'
ANOTHER = f'another: {{OutputCount: "0", Axis: "0"}}\n      {NO_TENSORS}'


def by_id(some: tuple[Case, ...] | list[Case]) -> dict[str, Case]:
    return {case.id: case for case in some}


def edited(folder: Path, old: str, new: str) -> SpecFile:
    """The smallest spec with one text in the place of another."""
    text = SMALLEST.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = folder / SMALLEST.name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read_spec(path)


def cases_with(folder: Path, old: str, new: str) -> list[Case]:
    return generate_cases(edited(folder, old, new), "core", 0)


@cache
def few_cases() -> list[Case]:
    """Return what an edit changes: the cases of the smallest spec, with few drawn calls."""
    return generate_cases(spec(SMALLEST.stem), "core", 0)


def mistakes_with(folder: Path, old: str, new: str) -> str:
    with pytest.raises(SpecError) as caught:
        cases_with(folder, old, new)
    assert f"{folder / SMALLEST.name}:" in str(caught.value)
    return str(caught.value)


def differences(call: Call, baseline: Call) -> list[str]:
    own, other = call.arguments, baseline.arguments
    return [name for name in own.keys() | other.keys() if own.get(name) != other.get(name)]


def changed_cases(name: str) -> list[Case]:
    """The negative cases, and the cases of ambiguities that change a baseline."""
    own = (case for case in cases(name) if case.baseline is not None)
    return [case for case in own if case.violated_rule is not None or case.ambiguity is not None]


def owner(case: Case) -> str:
    """The requirement or the ambiguity that a case is named after."""
    return case.id.partition("/")[2].partition(".")[0]


@each_moving_spec_at_length
def test_check_accepts_the_spec(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # To make them takes longer than all that is checked.
    monkeypatch.setattr(spec_check, "generate_cases", lambda *_, **__: [*cases(name)])
    monkeypatch.setattr(spec_check, "make_vectors", lambda *_: [*vectors(name)])
    result = opcert("check", "--no-strength", SPECS[name])
    assert result.exit_code == 0, result.stderr
    assert "rules, each exercised" in result.stdout


@each_spec_at_length
def test_ids_are_unique_and_begin_with_the_slug(name: str) -> None:
    ids = [case.id for case in cases(name)]
    assert len(ids) == len(set(ids))
    assert all(case_id.startswith(f"{spec(name).spec.slug}/") for case_id in ids)


@each_spec_at_length
def test_inputs_broadcast_to_no_large_result(name: str) -> None:
    data = [role.name for role in spec(name).spec.bound_roles if isinstance(role, DataRole)]
    for case in cases(name):
        shapes = [case.call.inputs[key].shape for key in data if key in case.call.inputs]
        with suppress(ValueError):  # they do not broadcast
            assert prod(np.broadcast_shapes(*shapes)) <= 1 << 21, case.id


@each_spec_at_length
def test_examples_come_first_and_baselines_before_their_changes(name: str) -> None:
    examples = [example.id for example in spec(name).spec.examples]
    assert [case.example.id for case in cases(name) if case.example] == examples
    valid = [case for case in cases(name) if case.baseline is None]
    assert all(case.example for case in valid[: len(examples)])
    before: set[str] = set()
    for case in cases(name):
        assert case.baseline is None or case.baseline in before
        before.add(case.id)


@each_spec_at_length
def test_a_case_is_what_the_conditions_of_the_spec_say(name: str) -> None:
    """A baseline is valid; a negative case violates its rule alone; a valid one names its rules."""
    parts, known = spec(name).spec, by_id(cases(name))
    conditions = Conditions(parts)
    for case in cases(name):
        assert case.ambiguity == conditions.ambiguity(case.call)
        if case.baseline is not None:
            baseline = known[case.baseline]
            assert (baseline.violated_rule, baseline.baseline, baseline.ambiguity) == (None,) * 3
        if case.violated_rule is None and case.baseline is None:
            expected = (*conditions.check(case.call).satisfied, *conditions.behaviours(case.call))
            assert case.rules == parts.full_ids(*expected)
        elif case.violated_rule is not None and case.ambiguity is None:
            assert case.baseline is not None
            violated = parts.full_ids(*conditions.check(case.call).violated)
            assert violated == case.rules == (case.violated_rule,)


@each_spec_at_length
def test_a_negative_case_differs_from_its_baseline_in_few_arguments(name: str) -> None:
    known = by_id(cases(name))
    rules = {spec(name).spec.full_id(rule.id): rule for rule in spec(name).spec.rules}
    for case in cases(name):
        if case.violated_rule is not None and case.ambiguity is None:
            baseline = known[case.baseline or ""]
            change = case.id.partition(".")[2].rpartition("-")[0]
            # A change that the spec writes may concern more arguments that belong together.
            most = 6 if change in rules[case.violated_rule].violations else 4
            assert 1 <= len(differences(case.call, baseline.call)) <= most, case.id


@each_moving_spec_at_length
def test_each_requirement_is_violated_and_each_ambiguity_touched(name: str) -> None:
    parts, names = spec(name).spec, {case.id.rpartition("-")[0] for case in changed_cases(name)}
    numbers = Counter(map(owner, changed_cases(name)))
    # A call with open elements is valid, and drawn as such.
    opened = {each.id for each in parts.ambiguities if each.elements}
    assert set(numbers) == {*parts.requirements} | {each.id for each in parts.ambiguities} - opened
    conditions = Conditions(parts)
    valid = [case.call for case in cases(name) if case.violated_rule is None]
    assert {*map(conditions.open_elements, valid)} - {None} == opened
    assert all(numbers[each.id] <= PROFILES["core"].per_ambiguity for each in parts.ambiguities)
    declared = [(each.id, each.violations) for each in parts.rules]
    declared += [(each.id, each.violations) for each in parts.ambiguities]
    for id_, violations in declared:
        assert {parts.full_id(f"{id_}.{each}") for each in violations} <= names


@each_moving_spec_at_length
def test_a_stratum_has_few_cases(name: str) -> None:
    mutations = {mutation.name: mutation for mutation in mutations_of(spec(name).spec)}
    strata: Counter[tuple[str, str, str]] = Counter()
    for case in changed_cases(name):
        mutation = mutations.get(case.id.partition(".")[2].rpartition("-")[0])
        if mutation is not None:
            strata[owner(case), *mutation.change.stratum] += 1
    assert len(strata) > FEWER_STRATA.get(name, 100)
    assert max(strata.values()) <= PROFILES["core"].per_stratum


@each_moving_spec_at_length
def test_many_valid_cases_serve_as_baselines(name: str) -> None:
    baselines = {case.baseline for case in cases(name) if case.baseline}
    assert len(baselines) > (50 if name in FEWER_STRATA else 60)


def test_a_case_that_touches_an_ambiguity_is_no_baseline(tmp_path: Path) -> None:
    touches = "touches: 0 in InputTensor.shape"
    more = touches.replace("0 in", "Axis == 0 or 0 in")
    known = by_id(cases_with(tmp_path, touches, more))
    positive = [case for case in known.values() if case.baseline is None]
    assert sum(case.ambiguity is not None for case in positive) > 20
    changed = [case for case in known.values() if case.baseline]
    assert all(known[case.baseline or ""].ambiguity is None for case in changed)


@each_spec_at_length
def test_arguments_are_those_of_the_spec_in_its_order(name: str) -> None:
    parts = spec(name).spec
    for case in cases(name):
        for arguments, declared in (
            (group_variadic(case.call.inputs), [argument.name for argument in parts.inputs]),
            (case.call.attributes, [argument.name for argument in parts.attributes]),
        ):
            assert list(arguments) == [key for key in declared if key in arguments]


@each_spec_at_length
def test_patterns_are_seeded_by_the_id_of_the_case_or_of_its_baseline(name: str) -> None:
    for case in cases(name):
        for argument, tensor in case.call.inputs.items():
            owner = case.baseline or case.id
            expected = f"0|{owner}|{argument_of(argument)}" if tensor.values is None else ""
            pattern = tensor.pattern
            if argument_of(argument) != argument:
                # The tensors of a variadic input may have another order than in the baseline.
                pattern = re.sub(r"\[\d+\]$", "", pattern)
            assert pattern == expected


def test_the_same_spec_gives_the_same_cases() -> None:
    assert generate_cases(read_spec(SMALLEST), "core", 0) == few_cases()


def test_another_example_leaves_every_drawn_case_as_it_was(tmp_path: Path) -> None:
    edited_cases = by_id(cases_with(tmp_path, "examples:\n", EXAMPLE))
    assert "dml-split/example-0" in edited_cases
    for case in few_cases():
        if case.baseline is None and case.example is None:
            assert edited_cases[case.id] == case


def test_another_seed_draws_other_calls_and_changes() -> None:
    others = generate_cases(spec(SMALLEST.stem), "core", 1)
    drawn, redrawn = (
        {str(case.call) for case in some if "/drawn-" in case.id} for some in (few_cases(), others)
    )
    assert len(drawn & redrawn) < len(drawn) / 4
    own = {case.id for case in few_cases() if case.baseline is not None}
    same = own & {case.id for case in others if case.baseline is not None}
    assert len(same) < len(own) / 4
    neighbours = {case.id for case in others if "/other-" in case.id}
    assert neighbours
    assert neighbours != {name for name in own if "/other-" in name}


def test_another_violation_leaves_the_cases_of_other_rules_as_they_were(tmp_path: Path) -> None:
    edited_cases = by_id(cases_with(tmp_path, NO_TENSORS, ANOTHER))
    assert 1 <= sum(".another-" in name for name in edited_cases) <= PROFILES["core"].per_stratum
    for case in few_cases():
        if "/output-count-positive." not in case.id:
            assert edited_cases[case.id] == case


def test_a_violation_that_is_never_applicable_is_a_mistake(tmp_path: Path) -> None:
    text = mistakes_with(tmp_path, NO_TENSORS, "no-tensors: {OutputTensors: OutputTensors}")
    assert "'output-count-positive.no-tensors' is never applicable" in text


def test_a_rule_that_no_drawn_call_satisfies_is_a_mistake(tmp_path: Path) -> None:
    derived = "    from: OutputCount.least\n"
    text = mistakes_with(tmp_path, derived, f"{derived}    holds: OutputCount > 10000\n")
    assert "2,000 draws in a row gave no valid call" in text
    assert "violates output-count-positive" in text


def test_an_example_that_violates_a_rule_is_a_mistake(tmp_path: Path) -> None:
    broken = EXAMPLE.replace("Axis: 0", "Axis: 1")
    assert "example-0 is meant to be a valid call" in mistakes_with(tmp_path, "examples:\n", broken)


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / SMALLEST.name
    text = SMALLEST.read_text(encoding="utf-8")
    nothing = "with_shape(InputTensor, InputTensor.shape)"
    for old, new in (
        (NO_TENSORS, 'no-tensors: {Axis: "0"}'),
        ("with_shape(InputTensor, [])", nothing),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    text = text.replace(
        "OutputTensors: \"[{**output, 'Sizes': []} for output in OutputTensors]\"", "Axis: Axis"
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        generate_cases(read_spec(path), "core", 0)
    assert len(caught.value.mistakes) == 2
    lines = [text.splitlines()[each.line - 1].strip() for each in caught.value.mistakes]
    assert [line.partition(":")[0] for line in lines] == ["no-tensors", "scalar-input"]


def test_a_feature_level_is_one_whose_table_has_the_rank_and_type() -> None:
    levels = {each.name: each for each in spec(SMALLEST.stem).spec.feature_levels}
    for case in cases(SMALLEST.stem):
        tensor = case.call.inputs.get("InputTensor")
        if tensor is not None and case.baseline is None:
            for name, level in levels.items():
                covered = level.ranks[0] <= tensor.rank <= level.ranks[1]
                assert (name in case.feature_levels) == (covered and tensor.type in level.types)
