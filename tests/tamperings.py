"""Tamperings with a certificate, each with a finding that it has to cause."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.handed_in import SPLIT, Change

Condition = Callable[[Any], bool]


def first_verdict(data: Any, condition: Condition) -> Any:
    return next(verdict for verdict in data["verdicts"] if condition(verdict))


def having(**fields: object) -> Condition:
    return lambda verdict: all(verdict[key] == value for key, value in fields.items())


failing = having(status="fail", kind="value")
valid = having(status="pass", observed="outputs")
rejected = having(status="pass", observed="rejected")
waived = having(status="waived")


def verdict(condition: Condition, **fields: object) -> Change:
    """Return a change of some fields of the first verdict that fulfils a condition."""
    return lambda data: first_verdict(data, condition).update(fields)


def pass_the_baseline(data: Any) -> None:
    """Make a pass of the failed baseline of an uncredited rejection."""
    uncredited = first_verdict(data, having(kind="uncredited"))
    baseline = first_verdict(data, having(case=uncredited["attributed_to"]))
    baseline.update(status="pass", kind=None, detail="")


def change_before_waiver(**fields: object) -> Change:
    return lambda data: first_verdict(data, waived)["before_waiver"].update(fields)


def part(*path: str | int, value: object) -> Change:
    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        data[last] = value

    return change


def remove(condition: Condition) -> Change:
    return lambda data: data["verdicts"].remove(first_verdict(data, condition))


def add(case: str) -> Change:
    return lambda data: data["verdicts"].append({**data["verdicts"][0], "case": case})


def add_evidence_of_a_pass(part: str) -> Change:
    """Return a change that gives a passing case an excerpt or a reproduction."""

    def change(data: Any) -> None:
        evidence = next(iter(data[part].values()))
        data[part][first_verdict(data, valid)["case"]] = evidence

    return change


def waiver(**fields: object) -> Change:
    return lambda data: data["waivers"]["content"][0].update(fields)


def another_waiver(**fields: object) -> Change:
    content = {"reason": "r", "owner": "o", "link": "l", "expires": "9999-12-31", **fields}
    return lambda data: data["waivers"]["content"].append(content)


def claim(**fields: object) -> Change:
    return lambda data: data["claim"]["content"]["operators"][SPLIT].update(fields)


def repeat(case: Callable[[Any], str]) -> Change:
    """Return a change of the case whose calls were repeated very often."""
    return lambda data: data["run"].update(repeated=[case(data)])


YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
FUTURE = (datetime.now(UTC) + timedelta(days=9)).isoformat(timespec="seconds")
# Each with a pattern of its finding. Counts and conclusion are recomputed after the change.
TAMPERINGS: dict[str, tuple[Change, str]] = {
    "an excerpt of a pass": (add_evidence_of_a_pass("excerpts"), "for a case that did not fail"),
    "a failure turned into a pass": (
        verdict(failing, status="pass", kind=None),
        "found pass with the detail",
    ),
    "a failed baseline turned into a pass": (
        pass_the_baseline,
        r"found fail \(uncredited\), but the baseline .* has pass",
    ),
    "an uncredited rejection turned into a pass": (
        verdict(having(kind="uncredited"), status="pass", kind=None, detail="rejected: no"),
        "found pass, but the baseline .* has",
    ),
    "a failure of another kind": (
        verdict(failing, kind="accepted"),
        r"found fail \(accepted\), but 'outputs' was observed for a case that expects outputs",
    ),
    "a failure without a kind": (verdict(failing, kind=None), "found fail, but 'outputs' was"),
    "a failure without a detail": (verdict(failing, detail=""), "without a detail; expected the"),
    "a pass with a kind": (verdict(valid, kind="bits"), r"found pass \(bits\), but"),
    "a pass turned into a failure": (
        verdict(rejected, status="fail", kind="uncredited"),
        r"found fail \(uncredited\), but the baseline .* has pass",
    ),
    "a failure turned into an unsupported case": (
        verdict(failing, status="unsupported", kind=None, observed="unsupported"),
        "found unsupported, but the claim includes it",
    ),
    "a failure out of claim": (
        verdict(failing, status="out-of-claim", kind=None, observed="not-run"),
        "found out-of-claim, but the case is in scope",
    ),
    "a failure out of claim though it ran": (
        verdict(failing, status="out-of-claim", kind=None),
        "found out-of-claim, but 'outputs' was observed",
    ),
    "a failure turned into an ambiguity": (
        verdict(failing, status="implementation-defined", kind=None),
        "found implementation-defined, but 'outputs' was observed for a case that expects outputs",
    ),
    "not-run, but observed": (verdict(failing, status="not-run"), "found not-run, but 'outputs'"),
    "outputs of a passing rejection": (
        verdict(rejected, observed="outputs"),
        "found pass, but",
    ),
    "a rejection of passing outputs": (verdict(valid, observed="rejected"), "found pass, but"),
    "a crash of a run that was not isolated": (
        verdict(failing, status="crash", kind=None, observed="crash"),
        "'crash' would have ended a run that was not isolated",
    ),
    "a pass out of claim": (
        verdict(having(status="out-of-claim"), status="pass", observed="outputs", detail=""),
        "'outputs' was observed for a case that is out-of-claim",
    ),
    "no causes": (part("causes", value=[]), r"causes: found 0 causes; expected \d, which follow"),
    "a removed cause": (lambda data: data["causes"].pop(), "causes: found 2 causes; expected 3"),
    "causes in another order": (lambda data: data["causes"].reverse(), r"causes\.0\.kinds"),
    "another condition of a cause": (
        part("causes", 1, "condition", 0, "levels", value=["f16"]),
        r'causes\.1\.condition\.0\.levels\.0: found "f16"; expected "f32", which follows',
    ),
    "other words of a cause": (
        part("causes", 1, "statement", value="All is well"),
        r'causes\.1\.statement: found "All is well"; expected "DML',
    ),
    "other figures of a cause": (part("causes", 0, "passing", value=9), r"causes\.0\.passing: fo"),
    "a failure of another cause": (
        lambda data: data["causes"][0]["cases"].append(data["causes"][1]["cases"].pop()),
        r"causes\.0\.cases: found",
    ),
    "a cause of a pass": (
        lambda data: data["causes"][0]["cases"].append(first_verdict(data, valid)["case"]),
        r"causes\.0: found dml-split/.*, which is no failure of the certificate",
    ),
    "another representative": (
        lambda data: data["causes"][0].update(representative=data["causes"][0]["cases"][-1]),
        r"causes\.0\.representative: found",
    ),
    "a removed case": (remove(failing), "verdicts: missing verdict of dml-split/"),
    "an invented case": (add("dml-split/none"), "of dml-split/none, which is not in the suite"),
    "a case that was not selected": (add("slice-8/example-1"), "which was not selected"),
    "another operator": (
        verdict(valid, operator="openvino/Slice-8"),
        "operator: found openvino/Slice-8; expected directml/DML_OPERATOR_SPLIT",
    ),
    "other rules": (verdict(valid, rules=[]), "rules: found none; expected dml-split/"),
    "a waived failure without the failure": (
        verdict(failing, status="waived"),
        "before_waiver: found none for a waived failure",
    ),
    "a failure waived without a waiver": (
        verdict(
            failing,
            status="waived",
            before_waiver={"status": "fail", "kind": "value", "detail": ""},
        ),
        "found waived, but no waiver of the certificate applies",
    ),
    "a waived failure that fails": (
        verdict(waived, status="fail", before_waiver=None),
        r"found fail; expected waived, by waivers\.content\.0",
    ),
    "a waived failure that passes": (
        verdict(waived, status="pass", kind=None, before_waiver=None),
        "found pass with the detail 'r ",
    ),
    "a pass with a failure before its waiver": (
        verdict(waived, status="pass", kind=None, detail=""),
        "found pass; expected waived",
    ),
    "another failure with a failure before its waiver": (
        verdict(failing, before_waiver={"status": "fail", "kind": "value", "detail": "x"}),
        "before_waiver: found one for status fail",
    ),
    "a waived failure of another kind before": (
        change_before_waiver(kind="shape"),
        "found waived, but no waiver of the certificate applies",
    ),
    "a waived failure with another detail before": (
        change_before_waiver(detail="something else"),
        "found another kind or detail than before the waiver",
    ),
    "a waived failure that passed before": (
        change_before_waiver(status="pass", kind=None),
        "found waived, but no waiver of the certificate applies",
    ),
    "an expired waiver": (waiver(expires=YESTERDAY), "expected the day of the run"),
    "a wider waiver": (waiver(case="*"), "found fail; expected waived"),
    "a waiver of another kind": (
        waiver(kind="shape"),
        r"unused waiver: none of the \d+ matching cases fails this way",
    ),
    "a waiver of an unknown kind": (waiver(kind="odd"), "kind: unknown kind 'odd'"),
    "a waiver of another device": (waiver(device="NPU"), "found waived, but no waiver"),
    "a waiver of no case": (another_waiver(case="none"), "unused waiver: no case of the suite"),
    "no waivers": (part("waivers", value=None), "found waived, but no waiver"),
    "a narrower claim": (claim(types=["f16"]), "for a case that is out-of-claim: the claim exclud"),
    "a wider claim": (claim(types=None), "found out-of-claim, but the case is in scope"),
    "no claim": (part("claim", value=None), "found out-of-claim, but the case is in scope"),
    "a feature level": (
        part("selection", "feature_level", value="1_0"),
        "for a case that is out-of-claim: not in feature level 1_0",
    ),
    "an unknown feature level": (
        part("selection", "feature_level", value="9"),
        "selection.feature_level: found 9, but no operator has this feature level",
    ),
    "a feature level other than the claim's": (
        part("claim", "content", "feature_level", value="2_1"),
        "selection.feature_level: found None; the claim has 2_1",
    ),
    "a narrower declared support": (
        part("backend", "support", SPLIT, "types", value=["i8"]),
        "for a case that is unsupported: the declared support excludes type f",
    ),
    "a wider declared support": (
        part("backend", "support", SPLIT, "ranks", value=[1, 2, 3, 4, 5]),
        "but the case is in scope",
    ),
    "declared support of an unknown operator": (
        lambda data: data["backend"]["support"].update({"openvino/Slcie-8": {"how": "native"}}),
        r"backend\.support: unknown operator 'openvino/Slcie-8'; did you mean 'openvino/Slice-8'",
    ),
    "declared support of an unknown type": (
        part("backend", "support", SPLIT, "index_types", value=["f23"]),
        r"backend\.support: unknown type of .* 'f23'; did you mean 'f32'",
    ),
    "a claim of an unknown operator": (
        lambda data: data["claim"]["content"]["operators"].update({"openvino/Slcie-8": {}}),
        r"claim\.content\.operators\.openvino/Slcie-8: unknown operator 'openvino/Slcie-8'; did",
    ),
    "a claim without an unknown rule": (
        claim(excluded=["dml-split/odd"]),
        r"claim\.content\.operators\..*\.excluded\.0: unknown rule or level",
    ),
    "more operators selected": (
        part("selection", "operator", value="*"),
        "missing verdict of slice-8/",
    ),
    "fewer cases selected": (part("selection", "case", value="*f16*"), "which was not selected"),
    "another suite": (part("suite", "digest", value="0" * 64), "suite.digest: found"),
    "another spec": (part("suite", "specs", SPLIT, value="0" * 64), "suite.specs.directml"),
    "another seed": (part("suite", "seed", value=1), "suite.seed: found 1; this suite has 0"),
    "another profile": (part("suite", "profile", value="full"), 'suite.profile: found "full"'),
    "another format": (part("suite", "version", value=1), "suite.version: found 1"),
    "a run in the future": (part("platform", "date", value=FUTURE), "which is in the future"),
    "a date that does not exist": (
        part("platform", "date", value="2026-02-30T00:00:00+00:00"),
        "invalid date 2026-02-30",
    ),
    "a repeated rejection": (
        repeat(lambda data: first_verdict(data, rejected)["case"]),
        "expected a valid case of the suite with few output elements",
    ),
    "an unknown repeated case": (part("run", "repeated", value=["none"]), "run.repeated: found"),
}
