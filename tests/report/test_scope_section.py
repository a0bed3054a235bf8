"""The scope in a report: what was selected, claimed, declared out, declined and excluded."""

from dataclasses import replace

from opcert.certificate.certificate import Certificate, ClaimEntry
from opcert.report.page import ScopePart, scope_parts
from opcert.suite.claims import ClaimContent
from opcert.suite.support import OperatorSupport
from opcert.verdicts.verdict import Verdict
from tests.made_certificate import DIGEST, OPERATOR, certificate

DECLARED = "the declared support excludes type bf16"
OUT = Verdict("a/1", OPERATOR, "unsupported", None, "not-run", (), DECLARED)


def parts(of: Certificate) -> dict[str, ScopePart]:
    return {part.name: part for part in scope_parts(of)}


def test_the_selection_says_how_many_cases_of_the_suite_it_has() -> None:
    assert parts(certificate([OUT]))["Selected"].text == (
        "Everything: 1 of the 9 cases of the suite."
    )


def test_what_is_declared_out_has_its_reasons_with_their_cases() -> None:
    of = certificate([OUT, replace(OUT, case="a/2")])
    support = {OPERATOR: OperatorSupport(how="native", types=["f32"])}
    of = of.replace(backend=of.backend.model_copy(update={"support": support}))
    (reason,) = parts(of)["Declared out"].reasons
    assert (reason.text, reason.count) == ("type bf16", 2)
    assert reason.filter == {"status": "unsupported", "text": DECLARED}


def test_what_the_backend_declined_is_apart_from_what_it_declares() -> None:
    declined = replace(OUT, observed="unsupported", detail="no kernel")
    found = parts(certificate([declined]))
    assert [reason.text for reason in found["Declined"].reasons] == ["no kernel"]
    assert not found["Declared out"].reasons
    assert "Declined" not in parts(certificate([OUT]))


def test_a_claim_names_its_operators_and_what_it_leaves_out() -> None:
    outside = replace(OUT, status="out-of-claim", detail="the claim excludes rank 7")
    claim = ClaimEntry(sha256=DIGEST, content=ClaimContent(operators={}))
    claimed = parts(certificate([outside]).replace(claim=claim))["Claimed"]
    assert DIGEST[:12] in claimed.text
    assert [(reason.text, reason.count) for reason in claimed.reasons] == [("rank 7", 1)]


def test_excluded_rules_are_listed_by_operator() -> None:
    support = {OPERATOR: OperatorSupport(how="native", excluded=["a/rule", "axis=last"])}
    of = certificate([OUT])
    of = of.replace(backend=of.backend.model_copy(update={"support": support}))
    (reason,) = parts(of)["Excluded"].reasons
    assert reason.text == f"{OPERATOR}: a/rule, axis=last"
