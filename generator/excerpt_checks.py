"""The excerpts of a certificate x the suite -> what of them cannot be."""

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from opcert.generator.causes import causes
from opcert.generator.certificate import Certificate
from opcert.generator.comparison import same_value
from opcert.generator.element_types import ELEMENT_TYPES, Array, name_of
from opcert.generator.excerpts import KEPT, Excerpt
from opcert.generator.flaws import Flaw
from opcert.generator.operator_suite import OperatorSuite
from opcert.generator.suite_format import IndexedCase


def excerpt_flaws(
    certificate: Certificate, cases: Mapping[str, tuple[OperatorSuite, IndexedCase]]
) -> Iterator[Flaw]:
    """Yield what is wrong with each excerpt: of a case that has none, or not of golden outputs."""
    known = {name: case for name, (_, case) in cases.items()}
    failed = [each for each in certificate.verdicts if each.case in cases]
    found = causes(failed)
    telling = {cause.smallest(known).case for cause in found}
    shown = {c.smallest(known).case: c.kind for c in found if c.kind in ("value", "bits")}
    for name in shown.keys() - certificate.excerpts.keys():
        yield Flaw(f"excerpts, {name}", "there is none; expected one of the smallest of its cause")
    for name, excerpt in certificate.excerpts.items():
        wrong = "of no failure, or not of the smallest of its cause"
        if name in telling:
            wrong = _mistake(*cases[name], excerpt) or _of_another(shown.get(name), excerpt)
        if wrong:
            yield Flaw(f"excerpts, {name}", wrong)


def _mistake(operator: OperatorSuite, case: IndexedCase, excerpt: Excerpt) -> str:
    size = ELEMENT_TYPES[excerpt.type].itemsize * min(KEPT, prod(excerpt.shape) - excerpt.start)
    try:
        parts = [bytes.fromhex(each) for each in (excerpt.expected, excerpt.actual)]
    except ValueError:
        return "holds elements that are no hexadecimal digits"
    if [len(each) for each in parts] != [size, size] or not size:
        return f"found {[len(each) for each in parts]} bytes; expected {size} of each, and some"
    if parts[0] == parts[1]:
        return "what was expected and what was got are the same"
    # A rejection is followed by the valid call beside it, which is what can differ then.
    called = case if case.expects == "outputs" or case.twin is None else operator.cases[case.twin]
    golden = [*operator.outputs(called)], operator.other_outputs(called)
    if not any(_is_part(parts[0], excerpt, arrays) for arrays in golden):
        return "what was expected is not what the suite expects there"
    return ""


def _of_another(kind: str | None, excerpt: Excerpt) -> str:
    """Say where an excerpt tells of values what the verdict tells of bits, or the other way."""
    if kind is None:
        return ""
    dtype = ELEMENT_TYPES[excerpt.type]
    expected, actual = (
        np.frombuffer(bytes.fromhex(each), dtype) for each in (excerpt.expected, excerpt.actual)
    )
    found = "bits" if same_value(expected, actual).all() else "value"
    return "" if found == kind else f"shows a difference of the kind {found}, the verdict is {kind}"


def _is_part(expected: bytes, excerpt: Excerpt, golden: list[Array]) -> bool:
    """Whether an excerpt has the elements that one of the golden outputs has there."""
    if excerpt.output >= len(golden):
        return False
    array = golden[excerpt.output]
    if (name_of(array.dtype), array.shape) != (excerpt.type, excerpt.shape):
        return False
    begin = excerpt.start * array.itemsize
    return array.tobytes()[begin : begin + len(expected)] == expected
