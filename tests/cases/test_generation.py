"""Cases of the shipped specs, and of copies of one that was edited."""

from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from opcert.arrays import Call
from opcert.cases import Case, Conditions, generate_cases, levels_by_factor, mutations_of
from opcert.cases.list_mutations import AT_A_BOUND
from opcert.cases.negative import OPEN, STRATUM
from opcert.errors import SpecError
from opcert.specification import SpecFile, read_spec
from tests.shipped import SPECS, cases, each_spec, spec

SMALLEST = SPECS["DML_OPERATOR_SPLIT"]

EXAMPLE = """\
examples:
  - id: example-0
    clause: Added
    text: Nothing that another case has to do with.
    inputs:
      InputTensor: {type: u8, shape: [3]}
    attributes:
      OutputCount: 1
      OutputTensors: [{Sizes: [3], DataType: UINT8}]
      Axis: 0
    outputs:
      - {type: u8, shape: [3]}
"""
NO_TENSORS = 'no-tensors: {OutputCount: "0", OutputTensors: "[]"}'
ANOTHER = f'another: {{OutputCount: "0", Axis: "0"}}\n      {NO_TENSORS}'


def by_id(found: tuple[Case, ...] | list[Case]) -> dict[str, Case]:
    return {case.id: case for case in found}


def edited(folder: Path, old: str, new: str) -> SpecFile:
    """The smallest spec with one text in the place of another."""
    text = SMALLEST.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = folder / SMALLEST.name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read_spec(path)


def cases_with(folder: Path, old: str, new: str) -> list[Case]:
    return generate_cases(edited(folder, old, new), "core", 0)


def mistakes_with(folder: Path, old: str, new: str) -> str:
    with pytest.raises(SpecError) as caught:
        cases_with(folder, old, new)
    assert f"{folder / SMALLEST.name}:" in str(caught.value)
    return str(caught.value)


def arguments(call: Call) -> dict[str, Any]:
    return {**call.inputs, **call.attributes}


def differences(call: Call, baseline: Call) -> list[str]:
    found, others = arguments(call), arguments(baseline)
    return [name for name in found.keys() | others.keys() if found.get(name) != others.get(name)]


def changed(name: str) -> list[Case]:
    """The cases that break a requirement or touch an ambiguity by a change of a baseline."""
    own = (case for case in cases(name) if case.baseline is not None)
    return [case for case in own if case.violated_rule is not None or case.ambiguity is not None]


def owner(case: Case) -> str:
    """The requirement or the ambiguity that a case is named after."""
    return case.id.partition("/")[2].partition(".")[0]


@each_spec
def test_ids_are_unique_and_begin_with_the_slug(name: str) -> None:
    ids = [case.id for case in cases(name)]
    assert len(ids) == len(set(ids))
    assert all(each.startswith(f"{spec(name).spec.slug}/") for each in ids)


@each_spec
def test_the_id_of_a_drawn_case_is_a_digest_of_its_levels(name: str) -> None:
    drawn = [case for case in cases(name) if case.levels]
    assert drawn
    for case in drawn:
        pairs = sorted(f"{factor}={level}" for factor, level in case.levels.items())
        end = sha256(" ".join(pairs).encode()).hexdigest()[:8]
        first, second, *_ = case.levels.values()
        assert case.id == f"{spec(name).spec.slug}/valid-{first}-{second}-{end}"


@each_spec
def test_a_drawn_case_records_the_level_of_every_factor(name: str) -> None:
    for case in cases(name):
        if case.place == ("cases", "draw") and case.baseline is None:
            assert list(case.levels) == list(levels_by_factor(spec(name).spec, "core"))
        else:
            assert case.levels == {}


@each_spec
def test_the_examples_come_first_and_every_twin_before_its_case(name: str) -> None:
    examples = [each.id for each in spec(name).spec.examples]
    found = cases(name)
    assert [case.example.id for case in found if case.example] == examples
    valid = [case for case in found if case.baseline is None]
    assert all(case.example for case in valid[: len(examples)])
    before: set[str] = set()
    for case in found:
        assert case.baseline is None or case.baseline in before
        before.add(case.id)


@each_spec
def test_twins_are_valid_and_free_of_ambiguity(name: str) -> None:
    conditions, known = Conditions(spec(name).spec), by_id(cases(name))
    for case in cases(name):
        if case.baseline is not None:
            baseline = known[case.baseline]
            assert (baseline.violated_rule, baseline.baseline, baseline.ambiguity) == (
                None,
                None,
                None,
            )
            assert conditions.check(baseline.call).violated == ()
            assert conditions.ambiguity(baseline.call) is None


@each_spec
def test_a_must_reject_case_has_a_twin_and_breaks_its_rule_alone(name: str) -> None:
    conditions, slug = Conditions(spec(name).spec), spec(name).spec.slug
    for case in cases(name):
        if case.violated_rule is not None and case.ambiguity is None:
            assert case.baseline is not None
            broken = conditions.check(case.call).violated
            assert [f"{slug}/{rule}" for rule in broken] == [case.violated_rule]
            assert case.rules == (case.violated_rule,)


@each_spec
def test_a_must_reject_case_is_a_change_of_few_arguments_away_from_its_twin(name: str) -> None:
    known = by_id(cases(name))
    for case in cases(name):
        if case.violated_rule is not None and case.ambiguity is None:
            baseline = known[case.baseline or ""]
            assert 1 <= len(differences(case.call, baseline.call)) <= 4, case.id


@each_spec
def test_each_requirement_is_broken_and_each_ambiguity_touched_by_many_changes(name: str) -> None:
    parts, names = spec(name).spec, {case.id.rpartition("-")[0] for case in changed(name)}
    numbers = Counter(map(owner, changed(name)))
    reachable = {id_ for id_, rule in parts.requirements.items() if rule.unbreakable is None}
    assert set(numbers) == reachable | {each.id for each in parts.ambiguities}
    assert all(numbers[each.id] <= OPEN["core"] for each in parts.ambiguities)
    declared = [(each.id, each.violations) for each in parts.rules]
    declared += [(each.id, each.violations) for each in parts.ambiguities]
    for id_, violations in declared:
        assert {parts.full_id(f"{id_}.{each}") for each in violations} <= names


@each_spec
def test_a_kind_of_change_of_an_argument_breaks_a_requirement_in_few_cases(name: str) -> None:
    mutations = {mutation.name: mutation for mutation in mutations_of(spec(name).spec)}
    strata: Counter[tuple[str, str, str]] = Counter()
    for case in changed(name):
        mutation = mutations.get(case.id.partition(".")[2].rpartition("-")[0])
        if mutation is not None:
            kind = mutation.name if mutation.kind in AT_A_BOUND else mutation.kind
            strata[owner(case), mutation.argument, kind] += 1
    assert len(strata) > 100
    assert max(strata.values()) <= STRATUM["core"]


@each_spec
def test_the_baselines_are_not_always_the_same(name: str) -> None:
    assert len({case.baseline for case in cases(name) if case.baseline}) > 60


def test_a_case_that_touches_an_ambiguity_is_no_twin_even_of_a_call_that_does_not(
    tmp_path: Path,
) -> None:
    touches = "touches: 0 in InputTensor.shape"
    found = by_id(cases_with(tmp_path, touches, touches.replace("0 in", "Axis == 0 or 0 in")))
    assert sum(case.ambiguity is not None and case.baseline is None for case in found.values()) > 20
    assert all(found[case.baseline].ambiguity is None for case in found.values() if case.baseline)


@each_spec
def test_a_case_is_marked_with_the_ambiguity_that_it_touches(name: str) -> None:
    conditions = Conditions(spec(name).spec)
    for case in cases(name):
        assert case.ambiguity == conditions.ambiguity(case.call)


@each_spec
def test_a_valid_case_names_the_rules_it_keeps_and_the_behaviours_it_shows(name: str) -> None:
    conditions, slug = Conditions(spec(name).spec), spec(name).spec.slug
    for case in cases(name):
        if case.violated_rule is None and case.baseline is None:
            expected = (*conditions.check(case.call).satisfied, *conditions.behaviours(case.call))
            assert case.rules == tuple(f"{slug}/{rule}" for rule in expected)


@each_spec
def test_every_call_leaves_out_only_what_the_spec_knows_and_keeps_its_order(name: str) -> None:
    parts = spec(name).spec
    for case in cases(name):
        for found, known in (
            (case.call.inputs, [each.name for each in parts.inputs]),
            (case.call.attributes, [each.name for each in parts.attributes]),
        ):
            assert list(found) == [each for each in known if each in found]


@each_spec
def test_patterns_are_seeded_by_the_id_of_the_case_or_of_its_twin(name: str) -> None:
    for case in cases(name):
        for argument, tensor in case.call.inputs.items():
            owner = case.baseline or case.id
            expected = f"0|{owner}|{argument}" if tensor.values is None else ""
            assert tensor.pattern == expected


def test_the_same_spec_gives_the_same_cases() -> None:
    assert tuple(generate_cases(read_spec(SMALLEST), "core", 0)) == cases(SMALLEST.stem)


def test_another_seed_draws_other_calls_under_the_same_ids() -> None:
    drawn = {case.id: case.call for case in cases(SMALLEST.stem) if case.levels}
    others = by_id(generate_cases(spec(SMALLEST.stem), "core", 1))
    assert drawn.keys() <= others.keys()
    assert sum(others[name].call.attributes != call.attributes for name, call in drawn.items()) > 50


def test_an_example_more_leaves_every_drawn_case_as_it_was(tmp_path: Path) -> None:
    found = by_id(cases_with(tmp_path, "examples:\n", EXAMPLE))
    assert "dml-split/example-0" in found
    for case in cases(SMALLEST.stem):
        if case.baseline is None and case.example is None:
            assert found[case.id] == case


def test_another_seed_breaks_requirements_otherwise_and_has_other_neighbours() -> None:
    others = generate_cases(spec(SMALLEST.stem), "core", 1)
    drawn = {case.id for case in others if case.baseline is None}
    assert drawn == {case.id for case in cases(SMALLEST.stem) if case.baseline is None}
    own = {case.id for case in cases(SMALLEST.stem) if case.baseline is not None}
    same = own & {case.id for case in others if case.baseline is not None}
    assert len(same) < len(own) / 4
    neighbours = {case.id for case in others if "/other-" in case.id}
    assert neighbours
    assert neighbours != {name for name in own if "/other-" in name}


def test_a_violation_more_leaves_the_cases_of_other_rules_as_they_were(tmp_path: Path) -> None:
    found = by_id(cases_with(tmp_path, NO_TENSORS, ANOTHER))
    assert 1 <= sum(".another-" in name for name in found) <= STRATUM["core"]
    for case in cases(SMALLEST.stem):
        if "/output-count-positive." not in case.id:
            assert found[case.id] == case


def test_a_change_that_breaks_nothing_alone_is_a_mistake(tmp_path: Path) -> None:
    text = mistakes_with(tmp_path, NO_TENSORS, "no-tensors: {OutputTensors: OutputTensors}")
    assert "'output-count-positive.no-tensors' applies to no call" in text


def test_a_draw_that_breaks_a_rule_is_a_mistake_that_names_rule_and_levels(tmp_path: Path) -> None:
    derived = "    from: OutputCount.least\n"
    text = mistakes_with(tmp_path, derived, f"{derived}    holds: OutputCount > 1\n")
    assert "breaks output-count-positive" in text
    assert ", drawn for InputTensor_type=" in text


def test_an_example_that_breaks_a_rule_is_a_mistake(tmp_path: Path) -> None:
    broken = EXAMPLE.replace("Axis: 0", "Axis: 1")
    assert "example-0 is to be valid" in mistakes_with(tmp_path, "examples:\n", broken)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
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
