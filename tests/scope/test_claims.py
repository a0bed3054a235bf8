"""Claims: what is inside has to work, what is outside is not run; and drafts of claims."""

import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import pytest

from opcert import Certificate, certify
from opcert.arrays.element_types import TYPE_SETS, Array
from opcert.commands.backends import ClaimDraft, draft_claim
from opcert.errors import SpecError
from opcert.report.files import conclusion_line
from opcert.suite.claims import read_claim
from opcert.suite.suite import Suite
from tests import wrong_backends as wrong
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.few_cases import few_cases
from tests.small_spec import mistakes_of
from tests.wrong_backends import Attributes, Inputs

SPLIT, PARTS = "directml/DML_OPERATOR_SPLIT", "openvino/VariadicSplit-1"
LOW_RANKS = f"operators:\n  {PARTS}: {{ranks: [1, 2, 3, 4, 5]}}\n"
ALL = f"operators:\n  {PARTS}: {{}}\n"


class Declines(wrong.Right):
    """Declines the calls that a function chooses by the arguments."""

    def __init__(self, is_declined: Callable[[Inputs, Attributes], bool]) -> None:
        self._is_declined = is_declined

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if self._is_declined(inputs, attributes):
            raise NotImplementedError("declined")
        return super().run(operator, inputs, attributes)


class DeclaresLowRanks(wrong.DeclinesHighRanks):
    support: ClassVar = {PARTS: {"how": "native", "ranks": [1, 2, 3, 4, 5]}}


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    return tmp_path / "claim.yaml"


def drafted(backend: object, **settings: Any) -> ClaimDraft:
    """Return a draft of a claim from a run."""
    return draft_claim(certify(backend, few_cases(), **settings), few_cases())  # type: ignore[arg-type]


def claiming(
    claim: Path,
    text: str,
    backend: wrong.Right | None = None,
    operator: str = PARTS,
    suite: Suite | None = None,
    **settings: Any,
) -> Certificate:
    claim.write_text(text, encoding="utf-8")
    found = backend or wrong.Right()
    return certify(found, suite or few_cases(), operator=operator, claim=claim, **settings)


def test_what_is_outside_the_claim_is_not_run_and_does_not_count(claim: Path) -> None:
    certificate = claiming(claim, LOW_RANKS, wrong.DeclinesHighRanks())
    outside = [v for v in certificate.verdicts if v.status == "out-of-claim"]
    assert outside
    assert {v.observed for v in outside} == {"not-run"}
    assert certificate.conformant, certificate.reasons


def test_a_claim_may_tie_types_of_inputs(claim: Path) -> None:
    scope = "{input_types: {axis: [i64]}, same_types: [[axis, split_lengths]]}"
    text = f"operators:\n  {PARTS}: {scope}\n"
    certificate = claiming(claim, text)
    cases = few_cases().operators[PARTS].cases
    ran = [cases[v.case] for v in certificate.verdicts if v.status == "pass"]
    valid = [case.input_types for case in ran if case.baseline is None]
    assert len(valid) > 10
    assert (
        {types["axis"] for types in valid} == {types["split_lengths"] for types in valid} == {"i64"}
    )


def test_what_is_inside_the_claim_and_declined_is_a_failure(claim: Path) -> None:
    certificate = claiming(claim, ALL, wrong.DeclinesHighRanks())
    failed = [v for v in certificate.verdicts if v.status == "fail"]
    assert {v.kind for v in failed} == {"undeclared"}
    assert all("claimed, but not supported" in v.detail for v in failed)
    assert not certificate.counts["unsupported"]


def test_a_claim_rules_out_declining_a_whole_data_type(claim: Path) -> None:
    assert certify(wrong.DeclinesBfloat16(), few_cases(), operator=PARTS).conformant
    certificate = claiming(claim, ALL, wrong.DeclinesBfloat16())
    assert set(certificate.reasons) == {f"{certificate.counts['fail']} x undeclared"}


def test_claimed_calls_that_support_excludes_fail_without_running(claim: Path) -> None:
    certificate = claiming(claim, ALL, DeclaresLowRanks())
    failed = [v for v in certificate.verdicts if v.status == "fail"]
    # A negative case runs with its baseline, even if its own call is not supported.
    changed = {v for v in failed if v.observed == "unsupported"}
    assert {(v.kind, v.observed) for v in failed if v not in changed} == {("undeclared", "not-run")}
    assert {v.kind for v in changed} <= {"undeclared"}


def test_a_declined_call_stops_a_run_that_stops_at_the_first_failure(claim: Path) -> None:
    certificate = claiming(claim, ALL, wrong.DeclinesHighRanks(), stop_at_failure=True)
    assert certificate.counts["fail"] == 1


INSIDE = [name for name in TYPE_SETS["any"] if name != "boolean"]
SOME_TYPES = f"operators:\n  {PARTS}:\n    types: {INSIDE}\n    index_types: [i32, i64]\n"


def test_a_negative_case_is_in_scope_with_its_baseline(claim: Path) -> None:
    certificate = claiming(claim, SOME_TYPES)
    status = {v.case: v.status for v in certificate.verdicts}
    cases = few_cases().operators[PARTS].cases.values()
    baselines = {
        case.id: case.baseline for case in cases if case.baseline and case.expects == "rejection"
    }
    inside = {case for case in status if status[case] != "out-of-claim"}
    assert any(baseline in inside for baseline in baselines.values())
    assert all((case in inside) == (baseline in inside) for case, baseline in baselines.items())


def test_a_valid_neighbour_is_in_scope_by_itself(claim: Path) -> None:
    cases = core_suite().operators[PARTS].cases
    neighbours = [case for case in cases.values() if case.baseline and case.expects == "outputs"]
    moved = next(case for case in neighbours if case.type != cases[str(case.baseline)].type)
    text = f"operators:\n  {PARTS}: {{types: [{moved.type}]}}\n"
    certificate = claiming(claim, text, suite=core_suite())
    status = {v.case: v.status for v in certificate.verdicts}
    inside = {case.id for case in neighbours if status[case.id] != "out-of-claim"}
    assert inside == {case.id for case in neighbours if case.type == moved.type}
    assert status[str(moved.baseline)] == "out-of-claim"


def test_a_changed_call_whose_own_type_is_outside_may_be_declined(claim: Path) -> None:
    integers = "[i8, i16, i32, i64, u8, u16, u32, u64]"
    text = f"operators:\n  {PARTS}: {{types: {integers}, index_types: {integers}}}\n"
    certificate = claiming(claim, text, wrong.DeclinesBfloat16(), suite=core_suite())
    declined = [v for v in certificate.verdicts if v.status == "unsupported"]
    assert declined
    assert {v.observed for v in declined} == {"unsupported"}
    assert certificate.conformant, certificate.reasons


def test_an_operator_that_the_claim_does_not_name_is_outside(claim: Path) -> None:
    certificate = claiming(claim, f"operators:\n  {PARTS}: {{ranks: [2]}}\n", operator="*")
    assert certificate.operators[SPLIT]["out-of-claim"] == sum(
        certificate.operators[SPLIT].values()
    )
    assert certificate.conformant


def test_an_operator_that_is_claimed_and_not_verified_is_reported(claim: Path) -> None:
    text = f"operators:\n  {PARTS}: {{}}\n  {SPLIT}: {{ranks: [77]}}\n"
    certificate = claiming(claim, text, operator="*")
    assert certificate.reasons == [f"nothing of {SPLIT} was verified"]


def test_ambiguous_cases_do_not_decide_inside_a_claim(claim: Path) -> None:
    certificate = claiming(claim, ALL, wrong.SupportsNothing())
    statuses = {v.status for v in certificate.verdicts}
    assert statuses == {"fail", "implementation-defined"}


def test_the_claims_feature_level_works_as_that_of_the_command_line(claim: Path) -> None:
    text = f"feature_level: 1_0\noperators:\n  {SPLIT}: {{}}\n"
    certificate = claiming(claim, text, operator=SPLIT)
    asked = certify(wrong.Right(), few_cases(), operator=SPLIT, feature_level="1_0")
    assert certificate.counts == asked.counts
    assert certificate.selection == asked.selection


def test_another_feature_level_than_the_claims_is_an_error(claim: Path) -> None:
    claim.write_text(f"feature_level: 1_0\noperators:\n  {SPLIT}: {{}}\n")
    result = opcert("certify", "--claim", claim, "--feature-level", "2_1", exits=2)
    assert f"{claim}:1:16: found '1_0', but feature level '2_1' was requested" in result.stderr
    same = ("--operator", SPLIT, "--feature-level", "1_0")
    opcert("certify", "--claim", claim, *same, exits=0)


def test_the_certificate_has_the_claim_and_its_digest(claim: Path) -> None:
    certificate = claiming(claim, LOW_RANKS)
    data = json.loads(certificate.to_json())
    assert data["waivers"] is None
    found = data["claim"]
    assert found["content"] == {"operators": {PARTS: {"ranks": [1, 2, 3, 4, 5]}}}
    assert found["sha256"] == sha256(claim.read_bytes()).hexdigest()
    assert f"claim {found['sha256'][:12]}" in conclusion_line(certificate)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operators:\n  openvino/Slice8: {}\n", "2:3: unknown operator 'openvino/Slice8'; did you"),
        (f"operators:\n  {PARTS}: {{tpyes: [f32]}}\n", "did you mean 'types'?"),
        (
            f"operators:\n  {PARTS}:\n    types: [float32]\n",
            f"3:13: unknown type of {PARTS} 'float32'",
        ),
        (f"operators:\n  {PARTS}:\n    index_types: [i3]\n", "did you mean 'i32'?"),
        (
            f"operators:\n  {PARTS}:\n    input_types:\n      axis: [i3]\n",
            f"4:14: unknown type of {PARTS} 'i3'; did you mean 'i32'?",
        ),
        (
            f"operators:\n  {PARTS}:\n    input_types:\n      axsi: [i32]\n",
            f"4:7: unknown input of {PARTS} 'axsi'; did you mean 'axis'?",
        ),
        (
            f"operators:\n  {PARTS}:\n    same_types: [[axis, split_length]]\n",
            f"3:25: unknown input of {PARTS} 'split_length'; did you mean 'split_lengths'?",
        ),
        (f"operators:\n  {PARTS}:\n    ranks: four\n", '3:12: found "four"; expected a list'),
        (
            f"operators:\n  {PARTS}:\n    excluded: [variadic-split-1/lengths-smu]\n",
            "did you mean 'variadic-split-1/lengths-sum'?",
        ),
        (f"operators:\n  {PARTS}:\n", "2:3: found null; expected a mapping"),
        (f"feature_level: 9_9\noperators:\n  {PARTS}: {{}}\n", "1:16: no operator has feature"),
        ("operators: {}\nfeature_levels: 1_0\n", "did you mean 'feature_level'?"),
        ("operators: {}\noperators: {}\n", "2:1: duplicate key 'operators', first on line 1"),
        ("operators: [\n", "not YAML"),
        ("", "1:1: found nothing; expected a mapping"),
    ],
)
def test_mistakes_in_a_claim_are_reported_with_their_place(
    claim: Path, text: str, message: str
) -> None:
    claim.write_text(text)
    (mistake,) = mistakes_of(read_claim, claim, few_cases())
    assert str(mistake).startswith(f"{claim}:")
    assert message in str(mistake)


def test_a_misspelt_operator_is_reported_even_if_others_are_selected(claim: Path) -> None:
    claim.write_text("operators:\n  openvino/Slcie-8: {}\n  vendor/Reverse-1: {}\n")
    text = r":2:3: unknown operator 'openvino/Slcie-8'; did you mean 'openvino/Slice-8'\?$"
    with pytest.raises(SpecError, match=text):
        read_claim(claim, few_cases(), "directml/*")


def test_the_command_line_exits_2_and_prints_every_mistake_without_a_prefix(claim: Path) -> None:
    claim.write_text(f"operators:\n  {PARTS}:\n    types: [f23]\n    excluded: [sign]\n")
    result = opcert("certify", "--claim", claim, exits=2)
    first, second = result.stderr.splitlines()
    assert first == f"{claim}:3:13: unknown type of {PARTS} 'f23'; did you mean 'f32'?"
    assert second.startswith(f"{claim}:4:16: unknown rule of {PARTS} 'sign'")


@pytest.mark.parametrize(
    ("backend", "absent"),
    [
        (wrong.DeclinesHighRanks(), {"ranks": [6, 7, 8]}),
        (wrong.DeclinesBfloat16(), {"types": ["bf16"]}),
        (DeclaresLowRanks(), {"ranks": [6, 7, 8]}),
    ],
)
def test_a_draft_excludes_what_was_declined_and_is_then_certified(
    claim: Path, backend: wrong.Right, absent: dict[str, list[object]]
) -> None:
    draft = drafted(backend, operator=PARTS)
    for part, values in absent.items():
        assert not set(values) & set(draft.operators[PARTS][part])
    assert claiming(claim, draft.text, backend).conformant


def test_a_draft_excludes_rules(claim: Path) -> None:
    # No type, index type or rank distinguishes what is declined.
    operator = "openvino/Broadcast-1"
    backend = Declines(lambda _, attributes: attributes.get("mode") == "explicit")
    draft = drafted(backend, operator=operator)
    assert len(draft.operators[operator]["excluded"]) == 1
    assert claiming(claim, draft.text, backend, operator).conformant


def test_a_draft_claims_what_failed(claim: Path) -> None:
    draft = drafted(wrong.ThroughFloat16(), operator=PARTS)
    assert "f32" in draft.operators[PARTS]["types"]
    assert re.match(r"# \d+ of the claimed calls failed", draft.text.splitlines()[1])
    assert not claiming(claim, draft.text, wrong.ThroughFloat16()).conformant


def test_a_draft_claims_what_was_only_sometimes_declined_and_says_so() -> None:
    # Others of the same types, ranks and rules are not.
    backend = Declines(lambda inputs, _: next(iter(inputs.values())).size % 7 == 3)
    draft = drafted(backend, operator=PARTS)
    assert re.search(r"# \d+ of the claimed calls were declined", draft.text)


def test_a_draft_has_the_feature_level_that_was_run(claim: Path) -> None:
    draft = drafted(wrong.Right(), operator=SPLIT, feature_level="1_0")
    certificate = claiming(claim, draft.text, operator=SPLIT)
    assert certificate.selection.feature_level == "1_0"
    assert certificate.conformant


SUITE = ("--suite", few_cases().folder)


def test_the_command_writes_what_certify_accepts_with_a_description_of_the_run(
    tmp_path: Path,
) -> None:
    certificate, written = tmp_path / "certificate.json", tmp_path / "new" / "claim.yaml"
    certificate.write_text(certify("reference", few_cases(), operator=SPLIT).to_json())
    opcert("claim", "--from", certificate, "-o", written, *SUITE, exits=0)
    assert written.read_text().startswith("# Draft of a claim: reference ")
    assert few_cases().digest[:12] in written.read_text().splitlines()[0]
    opcert("certify", *SUITE, "--operator", SPLIT, "--claim", written, exits=0)


def test_the_command_writes_nothing_where_everything_is_declined(
    tmp_path: Path, claim: Path
) -> None:
    declined = certify(wrong.SupportsNothing(), few_cases(), operator=SPLIT)
    (tmp_path / "declined.json").write_text(declined.to_json())
    opcert("claim", "--from", tmp_path / "declined.json", "-o", claim, *SUITE, exits=1)
    assert not claim.exists()
