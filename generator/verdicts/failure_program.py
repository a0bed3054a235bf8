"""Programs that fail as a case does: by opcert's adapter, or in the API of the runtime alone."""

import time
from collections.abc import Mapping
from dataclasses import replace

from opcert.isolation.supervised import SupervisedBackend
from opcert.programs import case_call_text, is_self_contained, step_text, write_program
from opcert.run.outcome import FATAL_OUTCOMES, native_code
from opcert.run.session import step_of
from opcert.suite.format import IndexedCase
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.verdicts.reproduction import NativeResult, ReproducedCall, Reproduction, calls_of_case
from opcert.verdicts.verdict import Verdict

# glibc then fills memory that it allocates with other bytes than 0, as a long run does.
DIRTY_MEMORY = "MALLOC_PERTURB_=165"
# The most calls of a program in the API of the runtime; after so many seconds, no further one is
# run.
_MAX_NATIVE, _NATIVE_SECONDS = 8, 120.0
# Failures of these kinds may be errors that the runtime raises.
_ERRORS = ("rejected", "state", "unstable")


def failure_program(
    operator: OperatorSuite,
    verdict: Verdict,
    reproduction: Reproduction | None,
    backend: str | None = None,
) -> str:
    """Return a program that fails in the same way as a case, or "" if it would need the pack.

    It makes the calls that confirmed the failure, reduced if possible, or the case's own calls if
    the failure was not confirmed. `backend` is the code that creates the backend; without it, the
    program makes the calls in the API of the runtime; it is "" if the backend has not written them.
    """
    case = operator.cases[verdict.case]
    observed = " ".join(verdict.summary.split())[:200]
    remarks = [f"{case.id}: {verdict.kind or verdict.status}", observed]
    if reproduction is not None and reproduction.reproduced == "never":
        # Its own calls pass.
        return ""
    if reproduction is not None and reproduction.reduced:
        calls = [step_text(call.step(operator.index.operator)) for call in reproduction.reduced]
        smaller = "A smaller call that fails in the same way:"
        alike = "The second call fails after the first one, which is as much like it as possible:"
        # The detail is about the call that was not reduced.
        remarks[1:] = [smaller if reproduction.relation is None else alike]
    else:
        reproduced = [] if reproduction is None else list(reproduction.calls)
        if not reproduced:
            reproduced = list(calls_of_case(case))
            if verdict.kind == "state" and case.violated_rule and case.baseline:
                # The steps that the run makes after a rejection.
                reproduced += [ReproducedCall(case=case.baseline), reproduced[0]]
        if not is_self_contained([operator.cases[call.case] for call in reproduced]):
            return ""
        calls = [
            case_call_text(
                operator, operator.cases[call.case], _remark(call, case), call.inverted_data
            )
            for call in reproduced
        ]
    # A call that ends the process cannot be checked, so the program announces the end instead.
    ending = verdict.status if verdict.status in FATAL_OUTCOMES else verdict.kind
    ending = ending if ending in (*FATAL_OUTCOMES, "protocol") else None
    calls[-1] = replace(calls[-1], ending=ending)
    if backend is None:
        codes = () if reproduction is None else reproduction.native
        if len(codes) != len(calls):
            return ""
        calls = [replace(call, native=code) for call, code in zip(calls, codes, strict=True)]
    return write_program(calls, backend, remarks)


def _remark(call: ReproducedCall, case: IndexedCase) -> str:
    """Return a comment on a call of the program of `case`."""
    data = ", every bit of its data inverted" if call.inverted_data else ""
    if call.case == case.id:
        violates = f", which violates {case.violated_rule}" if case.violated_rule else ""
        return f"the case{violates}{data}"
    relation = "the baseline" if call.case == case.baseline else "an earlier case"
    return f"{relation}, {call.case}{data}"


def write_native(
    backend: SupervisedBackend,
    suite: Suite,
    verdicts: Mapping[str, Verdict],
    reproductions: dict[str, Reproduction],
) -> None:
    """Have the backend write the calls of reproductions in the API of its runtime.

    The program that makes them is run: what fails by an adapter alone does not fail in it.
    """
    deadline = time.monotonic() + _NATIVE_SECONDS
    for name, reproduction in reproductions.items():
        operator, _ = suite.cases[name]
        if len(reproduction.calls) > _MAX_NATIVE:
            continue
        steps = [call.step(operator.index.operator) for call in reproduction.reduced] or [
            step_of(operator, operator.cases[call.case], call.inverted_data)
            for call in reproduction.calls
        ]
        codes = [native_code(backend, s.operator, s.laid_out, s.attributes) for s in steps]
        if not codes or not all(codes):
            continue
        whole = reproduction.model_copy(update={"native": tuple(codes)})
        program = failure_program(operator, verdicts[name], whole)
        if program and time.monotonic() < deadline:
            result = _native_result(backend, program, verdicts[name])
            whole = whole.model_copy(update={"native_result": result})
        reproductions[name] = whole


def _native_result(backend: SupervisedBackend, program: str, verdict: Verdict) -> NativeResult:
    """Run a program in the API of the runtime, and return how it ends.

    A failure that depends on what memory held before may show in dirtied memory alone.
    """
    if _fails(backend, program, verdict, {}):
        return "fails"
    is_dirty = _fails(backend, program, verdict, dict([DIRTY_MEMORY.split("=")]))
    return "fails-in-dirty-memory" if is_dirty else "ends-otherwise"


def _fails(
    backend: SupervisedBackend, program: str, verdict: Verdict, setting: Mapping[str, str]
) -> bool:
    """Whether a program ends as a failure does, and not for another reason, as a missing module."""
    status, errors = backend.run_program(program, setting)
    if verdict.status == "hang" or status is None:
        return verdict.status == "hang" and status is None
    # Only what a program checks itself is sure to be the failure, but for an error of the runtime.
    raised = "Traceback" in errors
    is_expected = verdict.kind in _ERRORS or "AssertionError" in errors
    return status != 0 and (is_expected if raised else verdict.status == "crash" or status < 0)
