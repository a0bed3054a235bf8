"""certificate.json: read as it was written, or refused with one message."""

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert import Certificate, certify
from opcert.certificate import file as certificate_file
from opcert.certificate.certificate import (
    SCHEMA,
    BackendEntry,
    ClaimEntry,
    ClusterEntry,
    Run,
    WaiversEntry,
)
from opcert.certificate.file import certificate_json_schema, read_certificate, submission_path
from opcert.errors import OpcertError
from opcert.suite.claims import ClaimContent
from opcert.suite.suite import core_suite_folder
from opcert.suite.support import OperatorScope, OperatorSupport
from opcert.verdicts.verdict import STATUSES, Verdict
from opcert.verdicts.waivers import Waiver
from tests import made_certificate
from tests import wrong_backends as wrong
from tests.command_line import opcert_program
from tests.few_cases import few_cases
from tests.made_certificate import DIGEST
from tests.tamperings import part

SPLITS = len(few_cases().select("directml/*", "*"))

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=5)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(TEXTS, parts, max_size=2),
    max_leaves=4,
)
SCOPES = st.just(OperatorScope()) | st.builds(
    OperatorScope, types=st.lists(TEXTS, max_size=2), ranks=st.none() | st.lists(st.integers())
)
WAIVER = Waiver(case="*", reason="r", owner="o", link="l", expires="2030-12-31")
MOMENTS = st.datetimes().map(lambda at: f"{at.isoformat(timespec='seconds')}+00:00")


def claim_entry(scopes: dict[str, OperatorScope]) -> ClaimEntry:
    return ClaimEntry(sha256=DIGEST, content=ClaimContent(operators=scopes))


def waive(verdict: Verdict) -> Verdict:
    return verdict.with_waiver("known")


VERDICTS = st.builds(
    Verdict,
    case=TEXTS,
    operator=TEXTS,
    detail=TEXTS,
    status=st.sampled_from([status for status in STATUSES if status != "waived"]),
    before_waiver=st.none(),
)
CERTIFICATES = st.builds(
    made_certificate.certificate(()).replace,
    backend=st.builds(
        BackendEntry,
        name=NAMES,
        version=NAMES,
        files=st.just({}),
        options=st.dictionaries(TEXTS, PLAIN, max_size=2),
        support=st.none()
        | st.dictionaries(TEXTS, st.builds(OperatorSupport, how=TEXTS), max_size=2),
    ),
    run=st.builds(
        Run,
        isolated=st.just(True),
        timeout=st.none() | st.floats(1e-3, 1e9),
        memory=st.none() | st.integers(1),
        jobs=st.integers(1, 64),
        cluster=st.none() | st.builds(ClusterEntry, platforms=st.just(()), lost=st.integers(0)),
        resumed=st.lists(MOMENTS, max_size=2).map(tuple),
        changed=st.lists(NAMES, max_size=2).map(tuple),
    ),
    claim=st.none() | st.builds(claim_entry, st.dictionaries(TEXTS, SCOPES, max_size=2)),
    waivers=st.none() | st.just(WaiversEntry(sha256=DIGEST, content=(WAIVER,))),
    verdicts=st.lists(
        VERDICTS | VERDICTS.filter(lambda v: v.failure is not None).map(waive),
        unique_by=lambda verdict: verdict.case,
        max_size=4,
    ).map(tuple),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The content of certificate.json after a run with failures."""
    path = tmp_path_factory.mktemp("out") / "certificate.json"
    certificate = certify(wrong.AcceptsEverything(), few_cases(), operator="directml/*")
    path.write_text(certificate.to_json())
    assert read_certificate(path) == certificate
    return path.read_bytes()


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(certificate_json_schema())


@settings(deadline=None, max_examples=30)
@given(certificate=CERTIFICATES)
def test_what_is_written_is_read(
    certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.json"
    path.write_text(certificate.to_json())
    found = read_certificate(path)
    assert found == certificate
    assert found.to_json() == certificate.to_json()
    lines = [line for line in path.read_text().splitlines() if line.startswith('  {"case"')]
    assert [json.loads(line.removesuffix(","))["case"] for line in lines] == [*found.by_case]
    validator().validate(json.loads(path.read_text()))


def test_a_run_is_of_the_schema(written: bytes) -> None:
    schema = certificate_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(written), schema)


def test_the_schema_refuses_what_the_reader_refuses(written: bytes) -> None:
    data = json.loads(written)
    data["verdicts"][0]["status"] = "passed"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, certificate_json_schema())


@pytest.mark.slow
def test_the_schema_does_not_depend_on_the_process() -> None:
    printed = {
        opcert_program("schema", "--certificate", env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in "12"
    }
    assert len(printed) == 1
    assert json.loads(printed.pop()[1]) == certificate_json_schema()


def test_odd_text_and_options_are_written_as_a_file_can_hold_them(tmp_path: Path) -> None:
    class Odd(wrong.Right):
        def run(self, operator: str, inputs: wrong.Inputs, attributes: wrong.Attributes) -> Any:
            raise ValueError("\ud800")

    options = {"one": object, "two": float("nan"), "three": "\udcff", "four": (1, "a")}
    certificate = certify(
        Odd(), few_cases(), operator="directml/*", case="*-2-*\udcff", options=options
    )
    assert certificate.backend.options["four"] == [1, "a"]
    path = tmp_path / "certificate.json"
    path.write_text(certificate.to_json())
    assert read_certificate(path) == certificate


def refusal(path: Path) -> str:
    with pytest.raises(OpcertError) as caught:
        read_certificate(path)
    text = str(caught.value)
    assert text.startswith(f"{path}:")
    assert "expected" in text or "use the opcert" in text
    assert len(text.splitlines()) == 1
    return text.removeprefix(f"{path}:")


# How a certificate begins.
CURRENT = b'{"schema": %d, ' % SCHEMA


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r" not JSON: EOF while parsing a value at line 1 column 0; the file was changed"),
        (b'{"schema": 9,\n "suite": }', r" not JSON: expected value at line 2 column 11"),
        (b'"\xff"', r" not JSON: invalid unicode code point"),
        (b"[]", r" is not a certificate"),
        (b"{}", r" is not a certificate"),
        (b'{"schema": 1}', rf" found schema 1; expected schema {SCHEMA}"),
        (b'{"schema": "3"}', rf' found schema "3"; expected schema {SCHEMA}'),
        (b'{"schema": true}', r" found schema true; expected"),
        (CURRENT + b'"seed": NaN}', r" not JSON: "),
        (CURRENT + b'"seed": 1e999}', r" suite: is missing"),
        (CURRENT + b'"name": "\\ud800"}', r" not JSON: "),
        (CURRENT + b'"name": ' + b"1" * 5000 + b"}", r" not JSON: "),
        (b"[" * 100_000, r" not JSON: recursion limit"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused(
    tmp_path: Path, text: bytes, message: str
) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(text)
    assert re.match(message, refusal(path))


BEFORE = {"status": "fail", "kind": "value", "detail": ""}
PLACE = "verdicts.0.evidence.accuracy"
ACCURACY = {
    **{"type": "f32", "within": ["standard"], "worst": 0.0, "counts": [1], "open": 0},
    **{"drift": 0.0, "spread": 0.0},
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("suite", ..., "suite: is missing"),
        ("run.timeout", ..., "run.timeout: is missing"),
        ("verdicts.3.kind", ..., "verdicts.3.kind: is missing"),
        ("grade", ..., "grade: found nothing, but null follows from the rest"),
        ("extra", 1, "extra: unknown key"),
        ("backend.driver", 1, "backend.driver: unknown key"),
        ("verdicts.3.extra", 1, "verdicts.3.extra: unknown key"),
        (
            "backend.name",
            "\x1b[2J",
            'backend.name: found "\\u001b[2J"; expected printable text; the',
        ),
        ("suite.seed", "0", 'suite.seed: found "0"; expected an integer'),
        ("suite.digest", "0", 'suite.digest: found "0"; expected text of the form'),
        ("run.isolated", 1, "run.isolated: found 1; expected true or false"),
        ("files", {"../x": DIGEST}, "files.../x.[key]: found"),
        ("files", {"/etc/passwd": DIGEST}, "files./etc/passwd.[key]: found"),
        ("platform.system", "Linux, /home/jane", 'platform.system: found "Linux, /home/jane"'),
        ("platform.opcert", "0.1.0\nsound", "platform.opcert: found"),
        ("platform.date", "today", 'platform.date: found "today"; expected text of the form'),
        ("verdicts", {}, "verdicts: found {}; expected a list"),
        ("verdicts.0", [], "verdicts.0: found []; expected a mapping"),
        ("verdicts.0.status", "passed", "verdicts.0.status: found \"passed\"; expected 'pass',"),
        ("verdicts.0.kind", "odd", "verdicts.0.kind: found \"odd\"; expected 'count',"),
        ("verdicts.0.observed", "odd", 'verdicts.0.observed: found "odd"; expected'),
        ("summary.pass", 7, "summary.pass: found 7, but"),
        ("summary.cases", True, f"summary.cases: found true, but {SPLITS} follows from the rest"),
        ("conformant", True, "conformant: found true, but false follows from the rest"),
        ("grade", "bit-exact", 'grade: found "bit-exact", but null follows from the rest'),
        ("reasons", [], "reasons: found [], but"),
        ("operators", {}, "operators.directml/DML_OPERATOR_SPLIT: found nothing, but"),
        ("verdicts.0.operator", "other/A-1", "operators.directml/DML_OPERATOR_SPLIT."),
        ("verdicts.0.before_waiver", BEFORE, "verdicts.0: found {"),
        ("verdicts.0.evidence", {"accuracy": ACCURACY | {"type": "f99"}}, f"{PLACE}: found {{"),
        (
            "verdicts.0.evidence",
            {"accuracy": ACCURACY | {"within": ["none"]}},
            f"{PLACE}: found {{",
        ),
        (
            "verdicts.0.evidence",
            {"accuracy": ACCURACY | {"spread": -1.0}},
            f"{PLACE}.spread: found",
        ),
    ],
)
def test_a_changed_certificate_is_refused_with_the_place(
    tmp_path: Path, written: bytes, name: str, value: object, message: str
) -> None:
    data = json.loads(written)
    part(*(int(step) if step.isdigit() else step for step in name.split(".")), value=value)(data)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(data))
    assert refusal(path).startswith(f" {message}")


def test_two_verdicts_of_a_case_are_refused(tmp_path: Path, written: bytes) -> None:
    data = json.loads(written)
    data["verdicts"].append(data["verdicts"][0])
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(data))
    assert f" 2 verdicts of {data['verdicts'][0]['case']}; expected one" in refusal(path)


def test_a_path_without_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No such file" in refusal(tmp_path / "missing.json")
    assert "not a file" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a file" in refusal(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b" " * 65)
    monkeypatch.setattr(certificate_file, "MAX_CERTIFICATE_BYTES", 64)
    assert "more than" in refusal(tmp_path / "large")


PLACES: dict[str, Callable[[Path], object]] = {
    "a file": lambda out: out.write_text(""),
    "a link to the suite": lambda out: out.symlink_to(core_suite_folder()),
    "a loop": lambda out: out.symlink_to(out),
    "a folder in the way": lambda out: (out / "certificate.json").mkdir(parents=True),
}


@pytest.mark.parametrize("place", PLACES)
def test_an_unsuitable_place_for_a_certificate_is_refused(tmp_path: Path, place: str) -> None:
    PLACES[place](tmp_path / "out")
    with pytest.raises(OpcertError):
        submission_path(tmp_path / "out", None)
