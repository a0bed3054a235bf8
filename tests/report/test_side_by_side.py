"""Several certificates: what each says of a case, what regressed, what was mended, what is new."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from opcert.certificate import Certificate
from opcert.report import render_side_by_side
from opcert.report.files import SIDE_BY_SIDE_FILE
from opcert.report.side_by_side import SideBySide
from opcert.run import FailureKind
from opcert.verdicts import Status, Verdict
from tests import shown
from tests.made_certificate import DIGEST, OPERATOR, certificate
from tests.parsed_pages import parsed

PASS = Verdict("a/same", OPERATOR, "pass", None, "outputs", (), "")


def named(case: str, status: Status = "pass", kind: FailureKind | None = None) -> Verdict:
    return replace(PASS, case=case, status=status, kind=kind)


FIRST = [
    PASS,
    named("a/broke"),
    named("a/waived"),
    named("a/mended", "fail", "value"),
    named("a/revived", "crash"),
    named("a/other kind", "fail", "value"),
    named("a/declined"),
    named("a/gone"),
]
SECOND = [
    PASS,
    named("a/broke", "fail", "shape"),
    named("a/waived", "waived"),
    named("a/mended"),
    named("a/revived"),
    named("a/other kind", "fail", "bits"),
    named("a/declined", "unsupported"),
    named("a/new", "fail", "value"),
]


def made(*verdicts: Sequence[Verdict]) -> SideBySide:
    return SideBySide([certificate(each) for each in verdicts])


def html(certificates: Sequence[Certificate]) -> str:
    (text,) = render_side_by_side(certificates).values()
    return text.decode()


def test_what_regressed_was_mended_or_differs_otherwise() -> None:
    (since,) = made(FIRST, SECOND).since
    assert since.regressed == ["a/broke", "a/waived"]
    assert since.mended == ["a/mended", "a/revived"]
    assert since.otherwise == ["a/other kind", "a/declined", "a/gone", "a/new"]


def test_the_other_way_round_what_regressed_was_mended() -> None:
    (there,), (back,) = made(FIRST, SECOND).since, made(SECOND, FIRST).since
    assert sorted(there.regressed) == sorted(back.mended)
    assert sorted(there.mended) == sorted(back.regressed)
    assert sorted(there.otherwise) == sorted(back.otherwise)


def test_each_is_held_against_the_first() -> None:
    page = made(FIRST, SECOND, FIRST)
    second, third = page.since
    assert second.regressed
    assert not [*third.regressed, *third.mended, *third.otherwise]
    assert page.differing == [each.case for each in FIRST[1:]] + ["a/new"]


def test_a_case_that_is_in_one_alone_is_told() -> None:
    first, second = made(FIRST, SECOND).columns
    assert (first.said("a/new"), second.said("a/new")) == ("not in it", "fail (value)")
    assert (first.said("a/gone"), second.said("a/gone")) == ("pass", "not in it")


def test_the_operators_of_any_are_shown_with_their_counts() -> None:
    other = replace(PASS, case="b/1", operator="vendor/B-1")
    page = made([PASS], [other])
    assert page.operators == [OPERATOR, "vendor/B-1"]
    first, second = page.columns
    assert first.operator("vendor/B-1").cases == 0
    assert second.operator("vendor/B-1").told == "1 pass"


@pytest.mark.parametrize(("second", "conformant"), [(shown.right, True), (shown.faulty, False)])
def test_all_are_conformant_or_not(second: Callable[[], Certificate], conformant: bool) -> None:
    assert SideBySide([shown.right(), second()]).conformant is conformant


def test_the_page_is_well_formed_and_shows_every_change() -> None:
    text = html([shown.right(), shown.faulty()])
    page = parsed(text)
    (since,) = SideBySide([shown.right(), shown.faulty()]).since
    assert len(set(page.ids)) == len(page.ids)
    assert f"Regressed: {len(since.regressed)}" in page.text
    assert all(case in page.text for case in since.regressed)
    assert f"Otherwise different: {len(since.otherwise)}" in page.text
    assert "Mended" not in page.text


def test_equal_certificates_differ_in_nothing() -> None:
    assert "Nothing: every case has the same verdict" in html([shown.right(), shown.right()])


def test_different_suites_are_told() -> None:
    other = shown.right()
    suite = other.suite.model_copy(update={"digest": DIGEST})
    assert "They are of different suites" in html([other, other.replace(suite=suite)])
    assert "They are of different suites" not in html([other, other])


def test_names_are_no_markup() -> None:
    of = certificate(FIRST)
    odd = of.replace(backend=of.backend.model_copy(update={"name": shown.ODD}))
    page = parsed(html([odd, certificate(SECOND)]))
    assert "script" not in [tag for tag, _ in page.tags]
    assert shown.ODD in page.text
    assert list(render_side_by_side([odd, odd])) == [SIDE_BY_SIDE_FILE]
