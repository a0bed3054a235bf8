"""Certificates to show: of the reference, of a backend with many faults, of one with odd words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from opcert import Certificate, certify
from opcert.arrays import Array
from opcert.certificate import WaiversEntry
from opcert.scope import Waiver
from opcert.suite import Suite
from opcert.verdicts import Status, Verdict
from tests.made_certificate import DIGEST
from tests.wrong_backends import AcceptsEverything, Right

# Markup, quotes, what ends a script, a control character, a letter beyond the first plane.
ODD = "</script><script>alert('1')</script> <!-- \"&amp;\x07\x1b[31m \N{MUSICAL SYMBOL G CLEF}"


@cache
def suite() -> Suite:
    """The core suite, opened once."""
    return Suite()


class Faulty(AcceptsEverything):
    """Accepts what it must reject, rounds f32, loses the bits of NaN, and speaks oddly."""

    name = "faulty"

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        data = next(iter(inputs.values()))
        if data.dtype == np.uint16:
            raise ValueError(ODD)
        return [_changed(each) for each in super().run(operator, inputs, attributes)]


def _changed(output: Array) -> Array:
    if output.dtype == np.float32:
        with np.errstate(all="ignore"):
            return output.astype(np.float16).astype(np.float32)
    if output.dtype.kind == "f":
        output[np.isnan(output)] = np.nan
    return output


@cache
def right() -> Certificate:
    """The certificate of a right backend, of one operator."""
    return certify(Right(), suite(), operator="directml/*")


@cache
def run_of_faulty() -> Certificate:
    """The certificate of a run of the faulty backend, as it came."""
    return certify(Faulty(), suite(), operator="directml/*")


@cache
def faulty() -> Certificate:
    """The same with a verdict of every status that there is."""
    came = run_of_faulty()
    others: list[Status] = ["crash", "hang", "waived", "unsupported", "out-of-claim", "not-run"]
    failed = [each for each in came.verdicts if each.kind == "accepted"]
    told = {each.case: _told(each, s) for each, s in zip(failed, others, strict=False)}
    known = Waiver(
        rule="dml-split/*", reason=ODD, owner="a team", link="a/link", expires="2030-01-01"
    )
    return came.replace(
        verdicts=tuple(told.get(each.case, each) for each in came.verdicts),
        waivers=WaiversEntry(sha256=DIGEST, content=(known,)),
    )


def _told(verdict: Verdict, status: Status) -> Verdict:
    detail = f"ended with signal 11\n    in data=...\n    printed: {ODD}\n    printed: second line"
    return replace(verdict, status=status, kind=None, detail=detail)
