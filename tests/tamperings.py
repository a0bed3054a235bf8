"""What a certificate is tampered with by, and what has to be said of each."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.handed_in import SPLIT, Change


def first(data: Any, of: Callable[[Any], bool]) -> Any:
    return next(each for each in data["verdicts"] if of(each))


def failing(each: Any) -> bool:
    return having(status="fail", kind="value")(each)


def having(**parts: object) -> Callable[[Any], bool]:
    return lambda each: all(each[key] == value for key, value in parts.items())


def valid(each: Any) -> bool:
    return having(status="pass", observed="outputs")(each)


def rejected(each: Any) -> bool:
    return having(status="pass", observed="rejected")(each)


def verdict(of: Callable[[Any], bool], **parts: object) -> Change:
    """Return what changes the first verdict of a sort."""
    return lambda data: first(data, of).update(parts)


def with_its_baseline(data: Any) -> None:
    """Make a pass of a failure on which rejections rest."""
    uncredited = first(data, having(kind="uncredited"))
    baseline = first(data, lambda each: f" {each['case']} " in uncredited["detail"])
    baseline.update(status="pass", kind=None, detail="")


def part(*way: str | int, value: object) -> Change:
    def change(data: Any) -> None:
        *steps, last = way
        for step in steps:
            data = data[step]
        data[last] = value

    return change


def removed(of: Callable[[Any], bool]) -> Change:
    return lambda data: data["verdicts"].remove(first(data, of))


def added(case: str) -> Change:
    return lambda data: data["verdicts"].append({**data["verdicts"][0], "case": case})


def with_an_excerpt_of_a_pass(data: Any) -> None:
    some = next(iter(data["excerpts"].values()))
    data["excerpts"][first(data, valid)["case"]] = some


def waiver(**parts: object) -> Change:
    return lambda data: data["waivers"]["content"][0].update(parts)


def another_waiver(**parts: object) -> Change:
    waiver = {"reason": "r", "owner": "o", "link": "l", "expires": "9999-12-31", **parts}
    return lambda data: data["waivers"]["content"].append(waiver)


def claim(**parts: object) -> Change:
    return lambda data: data["claim"]["content"]["operators"][SPLIT].update(parts)


def repeated(of: Callable[[Any], str]) -> Change:
    """Return what names another case as the one that was called very often."""
    return lambda data: data["run"].update(repeated=[of(data)])


YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
FUTURE = (datetime.now(UTC) + timedelta(days=9)).isoformat(timespec="seconds")
# With what `opcert verify` has to say of it. Counts and conclusion fit.
TAMPERINGS: dict[str, tuple[Change, str]] = {
    "an excerpt of a pass": (with_an_excerpt_of_a_pass, "of a case that did not fail"),
    "a failure made a pass": (verdict(failing, status="pass", kind=None), "found pass, with the"),
    "without its detail": (
        with_its_baseline,
        r"found fail \(uncredited\), while the valid call .* has pass",
    ),
    "an uncredited one made a pass": (
        verdict(having(kind="uncredited"), status="pass", kind=None, detail="rejected: no"),
        "found pass, while the valid call .* has",
    ),
    "a failure of another kind": (
        verdict(failing, kind="accepted"),
        r"found fail \(accepted\), while of a case that expects outputs",
    ),
    "a failure of no kind": (verdict(failing, kind=None), "found fail, while of a case"),
    "a failure without a detail": (verdict(failing, detail=""), "found no detail"),
    "a pass of a kind": (verdict(valid, kind="bits"), r"found pass \(bits\), while"),
    "a pass made a failure": (
        verdict(rejected, status="fail", kind="uncredited"),
        r"found fail \(uncredited\), while the valid call .* has pass",
    ),
    "a failure that tells no one": (
        verdict(failing, status="unsupported", kind=None, observed="unsupported"),
        "found unsupported, while the claim has it",
    ),
    "a failure out of claim": (
        verdict(failing, status="out-of-claim", kind=None, observed="not-run"),
        "found out-of-claim, while it is in scope",
    ),
    "a failure out of claim though it ran": (
        verdict(failing, status="out-of-claim", kind=None),
        "found out-of-claim, while of a case",
    ),
    "a failure left open": (
        verdict(failing, status="implementation-defined", kind=None),
        "found implementation-defined, while of a case that expects outputs",
    ),
    "not run, and observed": (verdict(failing, status="not-run"), "found not-run where 'outputs'"),
    "outputs where a rejection passed": (
        verdict(rejected, observed="outputs"),
        "found pass, while",
    ),
    "a rejection where outputs passed": (verdict(valid, observed="rejected"), "found pass, while"),
    "a crash that ended nothing": (
        verdict(failing, status="crash", kind=None, observed="crash"),
        "in a run that it would have ended",
    ),
    "a pass out of claim": (
        verdict(having(status="out-of-claim"), status="pass", observed="outputs", detail=""),
        "'outputs' was observed of a case that is out-of-claim",
    ),
    "a case dropped": (removed(failing), "verdicts: dml-split/.* has none"),
    "a case made up": (added("dml-split/none"), "one of dml-split/none, which the suite does not"),
    "a case that was not chosen": (added("slice-8/example-1"), "which was not chosen"),
    "another operator": (
        verdict(valid, operator="openvino/Slice-8"),
        "operator: found openvino/Slice-8; expected directml/DML_OPERATOR_SPLIT",
    ),
    "other rules": (verdict(valid, rules=[]), "rules: found none; expected dml-split/"),
    "a failure waived": (verdict(failing, status="waived"), "no waiver of the certificate speaks"),
    "a waived one that fails": (
        verdict(having(status="waived"), status="fail"),
        r"found fail; expected waived, as waivers\.content\.0 says",
    ),
    "a waived one that passes": (
        verdict(having(status="waived"), status="pass", kind=None),
        "found pass, with the detail 'r ",
    ),
    "a waiver that had expired": (waiver(expires=YESTERDAY), "expected the day of the run"),
    "a waiver widened": (waiver(case="*"), "found fail; expected waived"),
    "a waiver of another kind": (waiver(kind="shape"), "waives nothing: of"),
    "a waiver of a kind that there is not": (waiver(kind="odd"), "kind: found 'odd'"),
    "a waiver of another device": (waiver(device="NPU"), "found waived; no waiver"),
    "a waiver of no case": (another_waiver(case="none"), "waives nothing: the suite has no such"),
    "no waivers": (part("waivers", value=None), "found waived; no waiver"),
    "a claim narrowed": (claim(types=["f16"]), "of a case that is out-of-claim"),
    "a claim widened": (claim(types=None), "found out-of-claim, while it is in scope"),
    "no claim": (part("claim", value=None), "found out-of-claim, while it is in scope"),
    "a feature level": (
        part("selection", "feature_level", value="1_0"),
        "of a case that is out-of-claim: not in feature level 1_0",
    ),
    "a feature level that there is not": (
        part("selection", "feature_level", value="9"),
        "selection.feature_level: found 9; no operator has it",
    ),
    "a feature level that is not the claim's": (
        part("claim", "content", "feature_level", value="2_1"),
        "selection.feature_level: found None; the claim has 2_1",
    ),
    "a declaration narrowed": (
        part("backend", "support", SPLIT, "types", value=["i8"]),
        "of a case that is unsupported: declared: types, f",
    ),
    "a declaration widened": (
        part("backend", "support", SPLIT, "ranks", value=[1, 2, 3, 4, 5]),
        "while it is in scope",
    ),
    "a declaration of what there is not": (
        lambda data: data["backend"]["support"].update({"openvino/Slcie-8": {"how": "native"}}),
        r"backend\.support: unknown operator 'openvino/Slcie-8'; did you mean 'openvino/Slice-8'",
    ),
    "a declaration of types that there are not": (
        part("backend", "support", SPLIT, "index_types", value=["f23"]),
        r"backend\.support: unknown type of .* 'f23'; did you mean 'f32'",
    ),
    "a claim of what there is not": (
        lambda data: data["claim"]["content"]["operators"].update({"openvino/Slcie-8": {}}),
        r"claim\.content\.operators\.openvino/Slcie-8: unknown operator 'openvino/Slcie-8'; did",
    ),
    "a claim without a rule that there is not": (
        claim(excluded=["dml-split/odd"]),
        r"claim\.content\.operators\..*\.excluded\.0: unknown rule or level",
    ),
    "more operators chosen": (part("selection", "operator", value="*"), "slice-8/.* has none"),
    "fewer cases chosen": (part("selection", "case", value="*f16*"), "which was not chosen"),
    "another suite": (part("suite", "digest", value="0" * 64), "suite.digest: found"),
    "another spec": (part("suite", "specs", SPLIT, value="0" * 64), "suite.specs.directml"),
    "another seed": (
        part("suite", "seed", value=1),
        "suite.seed: found 1; the suite at hand has 0",
    ),
    "another profile": (part("suite", "profile", value="full"), 'suite.profile: found "full"'),
    "another format": (part("suite", "version", value=1), "suite.version: found 1"),
    "a run that is to come": (part("platform", "date", value=FUTURE), "which is in the future"),
    "a day that there is not": (
        part("platform", "date", value="2026-02-30T00:00:00+00:00"),
        "expected a moment that there is",
    ),
    "repeated a rejection": (
        repeated(lambda data: first(data, rejected)["case"]),
        "expected valid calls of the suite that move a few elements",
    ),
    "repeated what there is not": (part("run", "repeated", value=["none"]), "run.repeated: found"),
}
