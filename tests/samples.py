"""Sample certificates: of a correct backend, and of one with many faults and hostile messages."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from opcert import Certificate, certify
from opcert.arrays.element_types import Array
from opcert.certificate.certificate import WaiversEntry
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.verdict import Status, Verdict
from opcert.verdicts.waivers import Waiver
from tests.faults.finding import core_suite
from tests.made_certificate import DIGEST
from tests.wrong_backends import AcceptsEverything, Attributes, Inputs, Right

# Markup, quotes, the end of a script, control characters, and a character outside the BMP.
HOSTILE_TEXT = (
    "</script><script>alert('1')</script> <!-- \"&amp;\x07\x1b[31m \N{MUSICAL SYMBOL G CLEF}"
)


suite = core_suite


class Faulty(AcceptsEverything):
    """Accepts invalid calls, rounds f32, loses NaN payloads, and raises hostile messages."""

    name = "faulty"

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        data = next(iter(inputs.values()))
        if data.dtype == np.uint16:
            raise ValueError(HOSTILE_TEXT)
        return [_corrupt(output) for output in super().run(operator, inputs, attributes)]


def _corrupt(output: Array) -> Array:
    if output.dtype == np.float32:
        with np.errstate(all="ignore"):
            return output.astype(np.float16).astype(np.float32)
    if output.dtype.kind == "f":
        output[np.isnan(output)] = np.nan
    return output


@cache
def right() -> Certificate:
    """The certificate of a correct backend for one operator."""
    return certify(Right(), suite(), operator="directml/DML_OPERATOR_SPLIT")


@cache
def run_of_faulty() -> Certificate:
    """The certificate of the faulty backend."""
    return certify(Faulty(), suite(), operator="directml/DML_OPERATOR_SPLIT")


@cache
def faulty() -> Certificate:
    """The same certificate, changed to have a verdict of every status."""
    original = run_of_faulty()
    others: list[Status] = ["crash", "hang", "waived", "unsupported", "out-of-claim", "not-run"]
    failed = [verdict for verdict in original.verdicts if verdict.kind == "accepted"]
    changed = {
        verdict.case: _with_status(verdict, status)
        for verdict, status in zip(failed, others, strict=False)
    }
    waiver = Waiver(
        rule="dml-split/*", reason=HOSTILE_TEXT, owner="a team", link="a/link", expires="2030-01-01"
    )
    verdicts = tuple(changed.get(v.case, v) for v in original.verdicts)
    return original.replace(
        verdicts=verdicts,
        causes=Diagnosis(suite()).causes(verdicts),
        waivers=WaiversEntry(sha256=DIGEST, content=(waiver,)),
    )


def _with_status(verdict: Verdict, status: Status) -> Verdict:
    printed = f"    printed: {HOSTILE_TEXT}\n    printed: second line"
    detail = f"ended with signal 11\n    in data=...\n{printed}"
    if status == "waived":
        return replace(verdict, kind=None, detail=detail).with_waiver("known")
    return replace(verdict, status=status, kind=None, detail=detail)
