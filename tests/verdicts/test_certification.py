"""Certification: verdicts, kinds and conformance of wrong backends."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from opcert import Certificate, certify
from opcert.arrays.element_types import Array
from opcert.errors import BackendError
from opcert.report.files import conclusion_line
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite
from tests.few_cases import few_cases
from tests.wrong_backends import Attributes, Inputs

HOSTED = str(Path(__file__).with_name("hosted.py"))
DML, SLICE = "directml/*", "openvino/Slice-8"


def certified(backend: Any, **more: Any) -> Certificate:
    """Certify a backend on few cases, of a small operator unless `more` says otherwise."""
    return certify(backend, few_cases(), **{"operator": DML, **more})


def kinds(certificate: Certificate) -> Counter[str | None]:
    return Counter(v.kind for v in certificate.verdicts if v.status == "fail")


def test_an_ambiguous_call_has_to_return_a_list_of_arrays() -> None:
    run = Certification(wrong.ReturnsArray(), few_cases())
    open_cases = [case for case in few_cases() if case.ambiguity is not None]
    assert {case.expects for case in open_cases} == {"outputs", "rejection"}
    found = {(v.status, v.kind) for v in (run.verdict(case.id) for case in open_cases)}
    assert found == {("fail", "type")}


def test_the_reference_is_conformant_and_bit_exact() -> None:
    certificate = certify("reference", few_cases())
    assert certificate.conformant
    assert certificate.grade == "bit-exact"
    assert len(certificate.operators) == 5
    assert [v.case for v in certificate.verdicts] == [case.id for _, case in few_cases()]


@pytest.mark.parametrize(
    "backend",
    [wrong.RejectsEverything, wrong.DoesNothing, wrong.ReturnsItsInput, wrong.SupportsNothing],
)
def test_a_backend_that_computes_nothing_gets_no_certificate(
    backend: Callable[[], wrong.Right],
) -> None:
    certificate = certified(backend())
    assert not certificate.conformant
    assert certificate.grade is None
    if backend is wrong.SupportsNothing:
        assert certificate.reasons == ["nothing was verified"]


def test_a_rejection_is_not_credited_where_the_valid_baseline_fails() -> None:
    certificate = certified(wrong.RejectsEverything())
    assert kinds(certificate).keys() == {"rejected", "uncredited"}
    assert not certificate.counts["pass"]


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        (wrong.AcceptsEverything, "accepted"),
        (wrong.WrongDtype, "dtype"),
        (wrong.WrongByteOrder, "dtype"),
        (wrong.WrongShape, "shape"),
        (wrong.NestedLists, "type"),
        (wrong.ReturnsArray, "type"),
        (wrong.ReturnsOneOutput, "count"),
        (wrong.ThroughFloat16, "value"),
        (wrong.LosesNaNPayloads, "bits"),
        (wrong.LosesNegativeZero, "bits"),
        (wrong.WritesToItsInput, "mutated-input"),
        (wrong.ReturnsViews, "aliased-output"),
        # That the call before matters shows only in a fresh process.
        (wrong.CachesByShape, "value"),
        (wrong.WrongEveryThirdCall, "unstable"),
        (wrong.DeclinesHighRanks, "undeclared"),
    ],
)
def test_each_fault_is_named_by_its_kind(backend: Callable[[], wrong.Right], kind: str) -> None:
    def verdicts() -> Iterator[Verdict]:
        run = Certification(backend(), few_cases())
        yield from map(run.verdict, few_cases().select(DML, "*"))
        yield from run.finish()

    # The first failure of the kind will do.
    assert any(verdict.status == "fail" and verdict.kind == kind for verdict in verdicts())


def test_a_backend_whose_bits_alone_differ_is_value_exact() -> None:
    certificate = certified(wrong.LosesNaNPayloads())
    assert kinds(certificate).keys() == {"bits"}
    assert certificate.conformant
    assert certificate.grade == "value-exact"


class AcceptsAfterAValidCall(wrong.LosesNegativeZero):
    """Accepts an invalid call that follows its rejection and a valid call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, bool]] = []

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        key = repr((operator, attributes, [(a.shape, a.tobytes()) for a in inputs.values()]))
        try:
            outputs = super().run(operator, inputs, attributes)
        except ValueError:
            if [(key, False), True] == [*self.calls[-2:-1], *(a for _, a in self.calls[-1:])]:
                return []
            self.calls.append((key, False))
            raise
        self.calls.append((key, True))
        return outputs


class AcceptsWhatItDeclined(wrong.Right):
    """Declines an invalid call the first time only."""

    last = ""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        key = repr((operator, attributes, [(a.shape, a.tobytes()) for a in inputs.values()]))
        try:
            return super().run(operator, inputs, attributes)
        except ValueError:
            if key == self.last:
                return []
            self.last = key
            raise NotImplementedError from None


def test_a_baseline_whose_bits_differ_is_made_again_after_a_rejection() -> None:
    found = certified(AcceptsAfterAValidCall()).verdicts
    bits = {verdict.case for verdict in found if verdict.kind == "bits"}
    cases = few_cases().cases
    late = [v for v in found if cases[v.case][1].baseline in bits]
    assert late
    assert {(v.status, v.kind) for v in late} == {("fail", "state")}


def test_a_baseline_whose_bits_differ_credits_a_rejection() -> None:
    found = certified(wrong.LosesNegativeZero()).verdicts
    bits = {verdict.case for verdict in found if verdict.kind == "bits"}
    cases = few_cases().cases
    rejected = [v for v in found if cases[v.case][1].baseline in bits]
    assert rejected
    assert {v.status for v in rejected} == {"pass"}


def test_an_invalid_call_that_is_declined_must_not_be_accepted_later() -> None:
    assert kinds(certified(AcceptsWhatItDeclined())).keys() == {"accepted"}


def test_a_whole_data_type_may_be_declined_without_a_declaration() -> None:
    certificate = certified(wrong.DeclinesBfloat16(), operator="openvino/VariadicSplit-1")
    assert certificate.counts["unsupported"] > 0
    assert certificate.conformant


def test_declared_exclusions_do_not_count_against_a_backend() -> None:
    certificate = certified(wrong.with_support(), operator="openvino/[BS]*")
    assert certificate.conformant
    assert certificate.operators["openvino/Broadcast-1"]["pass"] == 0
    assert certificate.operators["openvino/Slice-8"]["pass"] > 0


def test_ambiguous_cases_never_decide() -> None:
    certificate = certify(
        wrong.AcceptsEverything(), core_suite(), operator=DML, case="*zero-sizes*"
    )
    assert {v.status for v in certificate.verdicts} == {"implementation-defined"}
    assert certificate.reasons == ["nothing was verified"]


def test_a_baseline_runs_on_demand_where_it_is_not_selected() -> None:
    certificate = certified("reference", operator=SLICE, case="slice-8/step-nonzero.*")
    assert {v.status for v in certificate.verdicts} == {"pass"}
    assert all("step-nonzero" in v.case for v in certificate.verdicts)


def test_an_older_feature_level_puts_cases_out_of_scope() -> None:
    newest, oldest = certified("reference"), certified("reference", feature_level="1_0")
    assert newest.counts["out-of-claim"] == 0
    assert 0 < oldest.counts["pass"] < newest.counts["pass"]
    assert oldest.conformant


def test_stopping_at_a_failure_leaves_the_rest_not_run() -> None:
    certificate = certify(wrong.WrongDtype(), few_cases(), stop_at_failure=True)
    assert certificate.counts["fail"] == 1
    assert certificate.counts["not-run"] > 0
    assert not certificate.conformant


def test_nothing_selected_is_nothing_verified() -> None:
    reasons = certify("reference", few_cases(), operator="Gather-8", case="no-such-case").reasons
    assert "did you mean 'openvino/Gather-8'?" in reasons[0]


def test_the_backend_is_closed_even_if_interrupted() -> None:
    class Interrupts(wrong.Right):
        closed = False

        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
            raise KeyboardInterrupt

        def close(self) -> None:
            self.closed = True

    backend = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        certify(backend, few_cases())
    assert backend.closed


def test_a_backend_that_exits_the_process_is_an_outcome() -> None:
    class Exits(wrong.Right):
        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> list[Array]:
            raise SystemExit(0)

    verdicts = certified(Exits()).verdicts
    assert {v.observed for v in verdicts} == {"rejected"}
    assert not any(v.status == "pass" for v in verdicts)


@pytest.mark.parametrize("reuse", ["sessions, 8 of them", None])
def test_a_certificate_has_the_declared_reuse(reuse: str | None) -> None:
    backend = wrong.Right()
    backend.reuse = reuse  # type: ignore[attr-defined]
    assert certify(backend, few_cases(), case="dml-split/example-*").backend.reuse == reuse


def test_declared_reuse_has_to_be_text() -> None:
    backend = wrong.Right()
    backend.reuse = {"sessions": 8}  # type: ignore[attr-defined]
    with pytest.raises(BackendError, match=r"reuse: found \{.*\}; expected printable text"):
        certify(backend, few_cases(), case="dml-split/example-*")


def test_a_rule_may_be_excluded_with_all_its_cases() -> None:
    class OnlyNumpy(wrong.Right):
        support: ClassVar = {
            "openvino/Broadcast-1": {"how": "native", "excluded": ["broadcast-1/explicit-mode"]}
        }

        def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
            if attributes.get("mode") == "explicit":
                raise NotImplementedError("explicit")
            return super().run(operator, inputs, attributes)

    certificate = certified(OnlyNumpy(), operator="openvino/Broadcast-1")
    assert certificate.conformant, certificate.reasons


def test_an_excluded_requirement_puts_its_negative_cases_out_of_scope() -> None:
    class Lenient(wrong.AcceptsEverything):
        support: ClassVar = {
            "openvino/Slice-8": {"how": "native", "excluded": ["slice-8/step-nonzero"]}
        }

    certificate = certified(Lenient(), operator=SLICE, case="slice-8/step-nonzero.*")
    assert certificate.counts["unsupported"] == len(certificate.verdicts) > 0
    assert {v.detail for v in certificate.verdicts} == {
        "the declared support excludes slice-8/step-nonzero"
    }
    assert certificate.excluded == {"openvino/Slice-8": ["slice-8/step-nonzero"]}
    assert "openvino/Slice-8 without slice-8/step-nonzero" in conclusion_line(certificate)


def test_what_a_claim_excludes_is_out_of_claim(tmp_path: Path) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text("operators:\n  openvino/Slice-8:\n    excluded: [slice-8/step-nonzero]\n")
    given = {"operator": SLICE, "case": "slice-8/step-nonzero.*"}
    certificate = certified("reference", **given, claim=claim)
    assert certificate.counts["out-of-claim"] == len(certificate.verdicts) > 0
    assert certificate.excluded == {"openvino/Slice-8": ["slice-8/step-nonzero"]}


def test_a_crash_is_one_in_an_ambiguous_case_too() -> None:
    backend = f"{HOSTED}:EndsInAmbiguousCases"
    certificate = certify(backend, core_suite(), case="gather-8/boolean-index*")
    assert {v.status for v in certificate.verdicts} == {"crash"}
    assert not certificate.conformant


@pytest.mark.parametrize("isolated", [False, True])
def test_a_certificate_counts_the_rejections_of_the_adapter(isolated: bool) -> None:
    backend, case = f"{HOSTED}:ChecksInItsAdapter", "dml-split/[ao]*-[rc]*.*[0-4]"
    certificate = certified(backend, isolated=isolated, case=case)
    assert certificate.conformant
    rejecters = {
        v.rejected_by for v in certificate.verdicts if v.rules == ("dml-split/axis-range",)
    }
    assert rejecters == {"adapter"}
    assert certificate.rejections["adapter"] > 0
    assert certificate.rejections["runtime"] > 0
    total = sum(certificate.rejections.values())
    counted = f"{certificate.rejections['runtime']} of {total} rejections by the runtime itself"
    assert counted in conclusion_line(certificate)
