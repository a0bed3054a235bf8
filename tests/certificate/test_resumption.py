"""A resumed run gives the certificate of one run, or is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from opcert import Certificate, certify, read_certificate
from opcert.arrays.element_types import Array
from opcert.certificate import certify_suite
from opcert.certificate.certify_suite import CertificationInterrupted, OnVerdict, UnusedWaiverError
from opcert.errors import OpcertError
from opcert.suite.suite import Suite
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.verdict import Verdict
from tests import wrong_backends as wrong
from tests.command_line import MISBEHAVING, WRONG, opcert
from tests.faults.finding import core_suite
from tests.few_cases import few_cases

SPLIT = "directml/*"
REST = "reason: r, owner: o, link: l, expires: 9999-12-31"


def interrupting(at: int) -> OnVerdict:
    """Return a callback that interrupts a run after the verdict of that number."""

    def on_verdict(_: Verdict, number: int, __: int) -> None:
        if number == at:
            raise KeyboardInterrupt

    return on_verdict


def in_pieces(backend: Any, suite: Suite, cases: int, **given: Any) -> Certificate:
    """Return the certificate of a run that is interrupted and resumed after every `cases`."""
    former = None
    while True:
        try:
            return certify(backend, suite, progress=interrupting(cases), resume=former, **given)
        except CertificationInterrupted as reached:
            former = reached.certificate


def apart_from_times(certificate: Certificate) -> dict[str, Any]:
    content = certificate.to_dict()
    del content["platform"]["date"], content["run"]["resumed"]
    for verdict in content["verdicts"]:
        del verdict["seconds"]
        # A run that is resumed begins with a new process.
        lost = "the process took the outputs of "
        verdict["detail"] = re.sub(rf"\n    {lost}.*", "", verdict["detail"])
        if (evidence := verdict["evidence"]) is not None:
            evidence["lines"] = [line for line in evidence["lines"] if not line.startswith(lost)]
    return content


class Recording(wrong.Right):
    """Records what it was called with."""

    def __init__(self, wraps: Callable[[], wrong.Right]) -> None:
        super().__init__()
        self.wrapped = wraps()
        self.calls: list[tuple[str, list[bytes], str]] = []

    def run(self, operator: str, inputs: wrong.Inputs, attributes: wrong.Attributes) -> Any:
        arrays = [each.tobytes() for each in inputs.values()]
        self.calls.append((operator, arrays, repr(attributes)))
        return self.wrapped.run(operator, inputs, attributes)


@pytest.mark.parametrize(
    ("backend", "case", "pieces"),
    [
        (wrong.AcceptsEverything, "*-i32-*", 1),
        pytest.param(wrong.DeclinesHighRanks, "*", 25, marks=pytest.mark.slow),
        pytest.param(wrong.WrongEveryThirdCall, "*", 25, marks=pytest.mark.slow),
        (wrong.WrongEveryThirdCall, "*-[fi][36]*", 7),
    ],
)
def test_the_calls_and_the_verdicts_are_those_of_one_run(
    backend: Callable[[], wrong.Right], case: str, pieces: int
) -> None:
    given: dict[str, Any] = {"operator": SPLIT, "case": case}
    uninterrupted, interrupted = Recording(backend), Recording(backend)
    whole = certify(uninterrupted, few_cases(), **given)
    pieced = in_pieces(interrupted, few_cases(), pieces, **given)
    assert apart_from_times(pieced) == apart_from_times(whole)
    assert interrupted.calls == uninterrupted.calls
    assert not whole.run.resumed
    assert len(pieced.run.resumed) == (len(whole.verdicts) - 1) // pieces > 3


def test_an_interrupted_case_runs_again_from_its_beginning() -> None:
    class Interrupts(wrong.Right):
        calls = 0

        def run(
            self, operator: str, inputs: wrong.Inputs, attributes: wrong.Attributes
        ) -> list[Array]:
            self.calls += 1
            # During the many calls of the first case.
            if self.calls == 100:
                raise KeyboardInterrupt
            return list(super().run(operator, inputs, attributes))

    backend = Interrupts()
    with pytest.raises(CertificationInterrupted) as caught:
        certify(backend, few_cases(), operator=SPLIT)
    former = caught.value.certificate
    assert former.counts["not-run"] == len(former.verdicts)
    assert former.run.repeated == ()
    found = certify(backend, few_cases(), operator=SPLIT, resume=former)
    assert found.conformant
    assert found.run.repeated == (found.verdicts[0].case,)


def test_waived_failures_and_claims_are_as_in_one_run(tmp_path: Path) -> None:
    waivers, claim = tmp_path / "waivers.yaml", tmp_path / "claim.yaml"
    waivers.write_text(f"- {{case: '*', kind: dtype, {REST}}}\n")
    claim.write_text("operators:\n  directml/DML_OPERATOR_SPLIT: {ranks: [1, 2, 3, 4, 5, 6, 7]}\n")

    class WrongAndDeclines(wrong.WrongDtype):
        def run(self, operator: str, inputs: wrong.Inputs, attributes: wrong.Attributes) -> Any:
            if next(iter(inputs.values())).ndim == 7:
                raise NotImplementedError
            return super().run(operator, inputs, attributes)

    given: dict[str, Any] = {"operator": SPLIT, "claim": claim, "waivers": waivers}
    whole = certify(WrongAndDeclines(), few_cases(), **given)
    assert whole.counts["waived"] > 0
    assert {"undeclared", "uncredited"} <= {each.kind for each in whole.verdicts}
    pieced = in_pieces(WrongAndDeclines(), few_cases(), 25, **given)
    assert apart_from_times(pieced) == apart_from_times(whole)


@pytest.mark.slow
def test_failures_are_confirmed_once_every_case_has_run() -> None:
    backend = f"{MISBEHAVING}:Misbehaves"
    given: dict[str, Any] = {"options": {"how": "abort"}, "case": "dml-split/drawn-f32-[234]-*"}
    whole = certify(backend, core_suite(), **given)
    assert sum("\n    confirmed" in each.detail for each in whole.verdicts) == 1
    # An interrupt after the last case would end the confirmation.
    pieced = in_pieces(backend, core_suite(), 7, **given)
    assert apart_from_times(pieced) == apart_from_times(whole)


def test_a_run_that_stops_at_failures_can_be_resumed_after_each() -> None:
    given: dict[str, Any] = {"operator": SPLIT, "case": "dml-split/axis-range*"}
    backend = wrong.AcceptsEverything()
    whole = certify(backend, few_cases(), **given)
    given["stop_at_failure"] = True
    found, stops = certify(backend, few_cases(), **given), 1
    while found.counts["not-run"]:
        assert found.counts["fail"] == stops
        found = certify(backend, few_cases(), **given, resume=found)
        stops += 1
    assert stops == whole.counts["fail"] > 2
    assert apart_from_times(found) == apart_from_times(whole)


def test_a_finished_run_is_returned_as_it_is() -> None:
    backend = Recording(wrong.Right)
    whole = certify(backend, few_cases(), operator=SPLIT)
    calls = len(backend.calls)
    assert certify(backend, few_cases(), operator=SPLIT, resume=whole) == whole
    assert len(backend.calls) == calls


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Certificate]:
    """The certificates that a run saves, after each verdict; pass `append` to `certify`."""
    monkeypatch.setattr(certify_suite, "SAVE_SECONDS", -1)
    return []


def test_a_saved_certificate_leads_to_that_of_one_run(saved: list[Certificate]) -> None:
    # Isolated, so that failures are confirmed.
    run = partial(certify, f"{WRONG}:AcceptsEverything", few_cases(), case="dml-split/*0")
    whole = run(save=saved.append)
    left = [certificate.counts["not-run"] for certificate in saved]
    assert left == [*reversed(range(len(whole.verdicts)))]
    former = saved[len(saved) // 2]
    assert apart_from_times(run(resume=former)) == apart_from_times(whole)


def test_an_interrupt_after_the_last_case_loses_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The first interrupt ends the confirmation, and another one the search for causes.
    monkeypatch.setattr(Diagnosis, "causes", lambda *_: _interrupt())
    backend = "--backend", f"{WRONG}:RejectsEverything", "--in-process"
    opcert("certify", *backend, "--case", "slice-8/example-*", "--out", tmp_path / "out", exits=130)
    certificate = read_certificate(tmp_path / "out" / "certificate.json")
    assert certificate.counts["fail"] > certificate.counts["not-run"] == 0


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_an_unused_waiver_is_found_again(tmp_path: Path, saved: list[Certificate]) -> None:
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text(f"- {{case: '*', {REST}}}\n")
    run = partial(certify, wrong.Right(), few_cases(), operator=SPLIT, waivers=waivers)
    with pytest.raises(UnusedWaiverError) as first:
        run(save=saved.append)
    for former in (first.value.certificate, saved[-1]):
        with pytest.raises(UnusedWaiverError) as again:
            run(resume=former)
        assert str(again.value) == str(first.value)


class Other(wrong.Right):
    name = "other"


class Newer(wrong.Right):
    version = "2"


class Declares(wrong.Right):
    support = {"directml/DML_OPERATOR_SPLIT": {"how": "native"}}  # noqa: RUF012


@pytest.fixture(scope="module")
def partly() -> Certificate:
    """The certificate of a run that was interrupted."""
    with pytest.raises(CertificationInterrupted) as caught:
        certify(wrong.Right(), core_suite(), operator=SPLIT, case="*f32*", progress=interrupting(9))
    return caught.value.certificate


def refusal(former: Certificate, backend: Any, **arguments: Any) -> str:
    """Return the error of a run that is to go on from a former one."""
    given = {"operator": SPLIT, "case": "*f32*", **arguments}
    with pytest.raises(OpcertError) as caught:
        certify(backend, core_suite(), **given, resume=former)
    return str(caught.value)


@pytest.mark.parametrize(
    ("backend", "arguments", "message"),
    [
        (Other, {}, 'backend.name was "right" and now is "other"'),
        (Newer, {}, 'backend.version was "1" and now is "2"'),
        (Declares, {}, "backend.support was null and now is {"),
        (wrong.Right, {"options": {"a": 1}}, "backend.options.a was nothing and now is 1"),
        (wrong.Right, {"operator": "*"}, 'selection.operator was "directml/*" and now is "*"'),
        (wrong.Right, {"feature_level": "2_1"}, "selection.feature_level was null and now is"),
        (f"{WRONG}:Right", {}, "run.timeout was null and now is 60.0"),
        (wrong.Right, {"claim": "claim.yaml"}, "claim was null and now is"),
        (wrong.Right, {"waivers": "waivers.yaml"}, "waivers was null and now is"),
    ],
)
def test_another_run_is_refused(
    partly: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    backend: Any,
    arguments: dict[str, Any],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("claim.yaml").write_text("operators:\n  directml/DML_OPERATOR_SPLIT: {}\n")
    Path("waivers.yaml").write_text(f"- {{case: '*', {REST}}}\n")
    found = refusal(partly, backend if isinstance(backend, str) else backend(), **arguments)
    assert message in found
    assert len(found.splitlines()) == 1


def test_every_option_that_differs_is_named(partly: Certificate) -> None:
    specs = {f"vendor/Op-{number}": "0" * 64 for number in range(20)}
    run = partly.run.model_copy(update={"isolated": True, "timeout": 5.0, "memory": 1 << 30})
    former = partly.replace(suite=partly.suite.model_copy(update={"specs": specs}), run=run)
    found = refusal(former, wrong.Right(), case="*", feature_level="2_1", options={"a": 1})
    places = ("selection.case", "selection.feature_level", "run.timeout", "run.memory")
    assert all(f"{place} was" in found for place in (*places, "backend.options.a"))


@pytest.mark.parametrize(
    ("entry", "parts", "message"),
    [
        ("suite", {"digest": "0" * 64}, "suite.digest was"),
        ("platform", {"opcert": "0.0.1"}, "platform.opcert was"),
        ("platform", {"numpy": "1.0"}, "platform.numpy was"),
        ("run", {"isolated": True, "memory": 1 << 30}, "run.isolated was"),
        ("verdicts", {}, "its cases are not those of the suite"),
    ],
)
def test_a_certificate_of_another_environment_or_of_other_cases_is_refused(
    partly: Certificate, entry: str, parts: dict[str, Any], message: str
) -> None:
    first, *others = partly.verdicts
    changed = (replace(first, case="dml-split/other"), *others)
    part = getattr(partly, entry).model_copy(update=parts) if parts else changed
    assert message in refusal(partly.replace(**{entry: part}), wrong.Right())


class InterruptedAtItsEnd(wrong.Right):
    """Gets an interrupt while it closes."""

    def close(self) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_after_the_last_verdict_keeps_the_certificate() -> None:
    certificate = certify(InterruptedAtItsEnd(), few_cases(), operator=SPLIT, case="*-f32-*")
    assert certificate.is_finished
    assert certificate.conformant
