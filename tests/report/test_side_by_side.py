"""Certificates side by side: which cases regressed, were fixed, or changed otherwise."""

from collections.abc import Sequence
from dataclasses import replace

from opcert.certificate.certificate import Certificate
from opcert.errors import visible_text
from opcert.report.files import SIDE_BY_SIDE_FILE, render_side_by_side
from opcert.report.side_by_side import SideBySide
from opcert.run.comparison import FailureKind
from opcert.verdicts.cause_text import Cause
from opcert.verdicts.condition_text import Term
from opcert.verdicts.verdict import Status, Verdict
from tests import samples
from tests.made_certificate import DIGEST, OPERATOR, certificate
from tests.parsed_pages import parsed

PASS = Verdict("a/same", OPERATOR, "pass", None, "outputs", (), "")


def named(case: str, status: Status = "pass", kind: FailureKind | None = None) -> Verdict:
    return replace(PASS, case=case, status=status, kind=kind)


FIRST = [
    PASS,
    named("a/broken"),
    named("a/waived"),
    named("a/worse", "fail", "bits"),
    named("a/ended", "fail", "value"),
    named("a/fixed", "fail", "value"),
    named("a/revived", "crash"),
    named("a/other kind", "fail", "value"),
    named("a/declined"),
    named("a/removed"),
]
SECOND = [
    PASS,
    named("a/broken", "fail", "shape"),
    named("a/waived", "fail", "value").with_waiver("known"),
    named("a/worse", "fail", "value"),
    named("a/ended", "hang"),
    named("a/fixed"),
    named("a/revived"),
    named("a/other kind", "fail", "bits"),
    named("a/declined", "unsupported"),
    named("a/new", "fail", "value"),
]


def compared(*verdicts: Sequence[Verdict]) -> SideBySide:
    return SideBySide([certificate(each) for each in verdicts])


def html(certificates: Sequence[Certificate]) -> str:
    (text,) = render_side_by_side(certificates).values()
    return text.decode()


def test_a_case_regressed_was_fixed_or_changed_otherwise() -> None:
    (changes,) = compared(FIRST, SECOND).changes
    assert changes.regressed == ["a/broken", "a/waived", "a/worse", "a/ended"]
    assert changes.fixed == ["a/fixed", "a/revived"]
    assert changes.other == ["a/other kind", "a/declined", "a/removed", "a/new"]


def cause_of(*cases: str, factor: str = "axis", level: str = "last", kind: str = "value") -> Cause:
    """Return a cause with a condition of one term."""
    term = Term(factor, (level,), f"the {factor} is {level}")
    return Cause(
        operator=OPERATOR,
        kinds=(kind,),
        condition=(term,),
        cases=cases,
        unmatched=(),
        attributed=(),
        failing=len(cases),
        passing=0,
        others_passing=3,
        representative=cases[0],
        alternatives=(),
        statement=f"A-1 gives a wrong {kind} whenever {term.text}",
        figures=f"{len(cases)} of {len(cases)}",
    )


def with_causes(passing: Sequence[str], *causes: Cause) -> Certificate:
    """Return a certificate in which the cases of the causes fail."""
    failing = [named(case, "fail", "value") for cause in causes for case in cause.cases]
    return certificate([*map(named, passing), *failing]).replace(causes=causes)


def test_a_bug_of_several_certificates_is_one_row_with_the_cases_of_each() -> None:
    first, other = cause_of("a/0", "a/1"), cause_of("a/2", level="first")
    page = SideBySide([with_causes([], first), with_causes([], cause_of("a/3"), other)])
    assert [(bug.causes[0], counts) for bug, counts in page.bugs] == [
        (first, [2, 1]),
        (other, [0, 1]),
    ]


def test_a_cause_is_new_fixed_or_remains() -> None:
    fixed, remaining = cause_of("a/0", "a/1"), cause_of("a/2", "a/3", level="first")
    new = cause_of("a/4", level="middle")
    # A cause of another kind is another one.
    new = replace(new, kinds=("accepted",), condition=fixed.condition)
    before = with_causes(["a/4"], fixed, remaining)
    after = with_causes(["a/0", "a/1", "a/3"], new, cause_of("a/2", level="first"))
    (changes,) = SideBySide([before, after]).changes
    assert changes.new_causes == [new]
    assert changes.fixed_causes == [fixed]


def test_a_cause_remains_if_its_condition_changes_but_half_of_its_cases_still_fail() -> None:
    before = with_causes([], cause_of("a/0", "a/1", "a/2", "a/3"))
    after = with_causes(["a/2", "a/3"], cause_of("a/0", "a/1", factor="rank"))
    (changes,) = SideBySide([before, after]).changes
    assert not changes.new_causes
    assert not changes.fixed_causes


def test_a_cause_is_not_fixed_if_none_of_its_cases_passes_or_one_fails_waived() -> None:
    before = with_causes([], cause_of("a/0", "a/1"))
    waived = named("a/1", "fail", "value").with_waiver("known")
    for verdicts in ([], [named("a/0", "unsupported")], [named("a/0"), waived]):
        (changes,) = SideBySide([before, certificate(verdicts)]).changes
        assert not changes.fixed_causes


def test_new_causes_come_first_then_fixed_ones_and_their_cases_unfold() -> None:
    before = with_causes(["a/1"], cause_of("a/0"))
    after = with_causes(["a/0"], cause_of("a/1", level="first"))
    text = " ".join(parsed(html([before, after])).text.split())
    new, fixed = text.index("New causes: 1"), text.index("Fixed causes: 1")
    assert new < text.index("whenever the axis is first") < text.index("a/1") < fixed
    assert fixed < text.index("whenever the axis is last") < text.index("a/0", fixed)


def test_each_certificate_is_compared_with_the_first() -> None:
    page = compared(FIRST, SECOND, FIRST)
    second, third = page.changes
    assert second.regressed
    assert not [*third.regressed, *third.fixed, *third.other]
    assert page.differing == [verdict.case for verdict in FIRST[1:]] + ["a/new"]


def test_a_case_of_only_one_certificate_has_no_verdict_in_the_other() -> None:
    first, second = compared(FIRST, SECOND).columns
    assert (first.result("a/new"), second.result("a/new")) == ("no verdict", "fail (value)")
    assert (first.result("a/removed"), second.result("a/removed")) == ("pass", "no verdict")


def test_the_operators_of_all_certificates_have_counts() -> None:
    other = replace(PASS, case="b/1", operator="vendor/B-1")
    page = compared([PASS], [other])
    assert page.operators == [OPERATOR, "vendor/B-1"]
    first, second = page.columns
    assert first.operator("vendor/B-1").cases == 0
    assert second.operator("vendor/B-1").summary == "1 pass"


def test_the_page_is_well_formed_and_shows_every_change() -> None:
    text = html([samples.right(), samples.faulty()])
    page = parsed(text)
    (changes,) = SideBySide([samples.right(), samples.faulty()]).changes
    assert len(set(page.ids)) == len(page.ids)
    assert f"Regressed: {len(changes.regressed):,} cases" in page.text
    assert all(case in page.text for case in changes.regressed)
    assert f"Changed otherwise: {len(changes.other):,} cases" in page.text
    assert "Fixed" not in page.text


def test_equal_certificates_have_no_differences() -> None:
    assert "None: every case has the same verdict" in html([samples.right(), samples.right()])


def test_different_suites_are_mentioned() -> None:
    other = samples.right()
    suite = other.suite.model_copy(update={"digest": DIGEST})
    assert "They are of different suites" in html([other, other.replace(suite=suite)])
    assert "They are of different suites" not in html([other, other])


def test_names_are_escaped() -> None:
    of = certificate(FIRST)
    odd = of.replace(backend=of.backend.model_copy(update={"name": samples.HOSTILE_TEXT}))
    page = parsed(html([odd, certificate(SECOND)]))
    assert "script" not in [tag for tag, _ in page.tags]
    assert visible_text(samples.HOSTILE_TEXT) in page.text
    assert list(render_side_by_side([odd, odd])) == [SIDE_BY_SIDE_FILE]
