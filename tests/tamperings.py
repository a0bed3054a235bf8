"""Tamperings with a certificate, each with a finding that it has to cause."""

from collections.abc import Callable
from itertools import count
from typing import Any

from opcert.verdicts.fresh_calls import FreshCalls
from opcert.verdicts.reproduction import FreshDraw
from tests.faults.finding import core_suite
from tests.handed_in import SPLIT, Change

Condition = Callable[[Any], bool]


def first_verdict(data: Any, condition: Condition) -> Any:
    return next(verdict for verdict in data["verdicts"] if condition(verdict))


def having(**fields: object) -> Condition:
    return lambda verdict: all(verdict[key] == value for key, value in fields.items())


failing = having(status="fail", kind="value")
valid = having(status="pass", observed="outputs")


def verdict(condition: Condition, **fields: object) -> Change:
    """Return a change of some fields of the first verdict that fulfils a condition."""
    return lambda data: first_verdict(data, condition).update(fields)


def part(*path: str | int, value: object) -> Change:
    """Return a change of the part at a path; `...` removes it."""

    def change(data: Any) -> None:
        *steps, last = path
        for step in steps:
            data = data[step]
        if value is ...:
            del data[last]
        else:
            data[last] = value

    return change


def remove(condition: Condition) -> Change:
    return lambda data: data["verdicts"].remove(first_verdict(data, condition))


def add(case: str) -> Change:
    return lambda data: data["verdicts"].append({**data["verdicts"][0], "case": case})


def reproduce_by(case: str) -> Change:
    """Return a change that reproduces a failure by a call of a case."""

    def change(data: Any) -> None:
        data["reproductions"][first_verdict(data, failing)["case"]] = {
            "reproduced": "alone",
            "calls": [{"case": case, "inverted_data": False}],
            "kind": "value",
            "reduced": [],
        }

    return change


def fresh_call_of(operator: str, *, drawn: bool = True) -> Change:
    """Return a change that adds a fresh call, or the number of a draw that gave none."""

    def change(data: Any) -> None:
        known = FreshCalls(core_suite().spec_files[SPLIT])
        calls = (FreshDraw(number=number) for number in count())
        number = next(call.number for call in calls if (known.call(call) is not None) == drawn)
        data["fresh"] = {operator: [{"number": number, "failure": None, "shows": True}]}

    return change


# Each with a pattern of its finding. Counts and conclusion are recomputed after the change.
TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a failure turned into a pass": (
        verdict(failing, status="pass", kind=None),
        "status: found 'pass'; expected 'fail', which follows from what was observed",
    ),
    "another detail of a failure": (
        verdict(failing, detail="fine"),
        "detail: found 'fine'; expected '.*, which follows from what was observed",
    ),
    "a waived failure turned into a pass": (
        verdict(having(status="waived"), status="pass", kind=None, before_waiver=None),
        "status: found 'pass'; expected 'waived'",
    ),
    "a case outside the claim turned into a pass": (
        verdict(having(status="out-of-claim"), status="pass", observed="outputs"),
        "status: found 'pass'; expected 'out-of-claim'",
    ),
    "a rejection turned into an acceptance": (
        verdict(having(status="pass", observed="rejected"), observed="outputs"),
        "status: found 'pass'; expected 'fail'",
    ),
    "no causes": (part("causes", value=[]), r"causes: found 0 causes; expected \d, which follow"),
    "a removed cause": (lambda data: data["causes"].pop(), "causes: found 1 causes; expected 2"),
    "causes in another order": (
        lambda data: data["causes"].reverse(),
        r"causes\.0\.kinds\.0: found",
    ),
    "another condition of a cause": (
        part("causes", 1, "condition", 0, "levels", value=["f16"]),
        r'causes\.1\.condition\.0\.levels\.0: found "f16"; expected "f32", which follows',
    ),
    "other words of a cause": (
        part("causes", 1, "statement", value="All is well"),
        r'causes\.1\.statement: found "All is well"; expected "DML',
    ),
    "other figures of a cause": (part("causes", 0, "passing", value=9), r"causes\.0\.passing: fo"),
    "a cause of a pass": (
        lambda data: data["causes"][0]["cases"].append(first_verdict(data, valid)["case"]),
        r"causes\.0\.cases: found",
    ),
    "another representative": (
        lambda data: data["causes"][0].update(representative=data["causes"][0]["cases"][-1]),
        r"causes\.0\.representative: found",
    ),
    "no repeated call": (
        part("run", "repeated", value=[]),
        "run.repeated: found 0 cases of directml/DML_OPERATOR_SPLIT; expected one",
    ),
    "an invented repeated call": (
        lambda data: data["run"]["repeated"].append("no/such"),
        "run.repeated: found no/such, which no run repeats",
    ),
    "a waiver that is not used": (
        lambda data: data["waivers"]["content"].append(
            {**data["waivers"]["content"][0], "kind": "hang"}
        ),
        r"waivers.content\[1\]: found an unused waiver: none of the \d+ matching cases",
    ),
    "a removed case": (remove(failing), "verdicts: missing verdict of dml-split/"),
    "an invented case": (add("dml-split/none"), "of dml-split/none, which is not in the suite"),
    "a case that was not selected": (add("slice-8/example-1"), "which was not selected"),
    "cases in another order": (
        lambda data: data["verdicts"].reverse(),
        "verdicts: found dml-split/.*; expected dml-split/.*, in the order of the suite",
    ),
    "another operator": (
        verdict(valid, operator="openvino/Slice-8"),
        "operator: found 'openvino/Slice-8'; expected 'directml/DML_OPERATOR_SPLIT'",
    ),
    "other rules": (verdict(valid, rules=[]), r"rules: found \(\); expected \('dml-split/"),
    "more operators selected": (
        part("selection", "operator", value="*"),
        "missing verdict of slice-8/",
    ),
    "fewer cases selected": (part("selection", "case", value="*f16*"), "which was not selected"),
    "a feature level that no operator has": (
        part("selection", "feature_level", value="9_9"),
        r"selection\.feature_level: found 9_9; expected ",
    ),
    "a claim of an unknown arithmetic": (
        part("claim", "content", "arithmetic", value={SPLIT: {"f32": "perfect"}}),
        r"claim\.content\.arithmetic\.directml/.*\.f32: unknown arithmetic 'perfect'",
    ),
    "a claim of another level": (
        part("claim", "content", "feature_level", value="2_1"),
        r"selection\.feature_level: found None; expected 2_1, as claimed",
    ),
    "support of an unknown rule": (
        part("backend", "support", SPLIT, "excluded", value=["dml-split/axis"]),
        r"backend\.support\.directml/.*\.excluded\.0: unknown rule of ",
    ),
    "another suite": (part("suite", "digest", value="0" * 64), "suite.digest: found"),
    "another spec": (part("suite", "specs", SPLIT, value="0" * 64), "suite.specs.directml"),
    "another seed": (part("suite", "seed", value=1), "suite.seed: found 1; this suite has 0"),
    "a reproduction by another operator": (
        reproduce_by("gather-8/example-1"),
        "reproductions, dml-split/.*, calls: expected calls of cases of the operator",
    ),
    "a fresh call of an operator that was not selected": (
        fresh_call_of("openvino/Slice-8"),
        "fresh, openvino/Slice-8: expected an operator of the certificate with a spec",
    ),
    "a number that draws no call": (
        fresh_call_of(SPLIT, drawn=False),
        rf"fresh, {SPLIT}: found fresh/\d+, which draws no valid call",
    ),
    "a replay of no choice": (
        part(
            "fresh", value={SPLIT: [{"number": 0, "anew": "color", "failure": None, "shows": True}]}
        ),
        rf"fresh, {SPLIT}: found fresh/0/color/0, which draws no valid call",
    ),
    "another fresh call": (
        fresh_call_of(SPLIT),
        r"causes\.\d\.figures: found .*; expected .*no such fresh",
    ),
}
