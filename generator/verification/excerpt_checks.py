"""The excerpts of a certificate x the suite -> what of them cannot be."""

from collections.abc import Iterator
from math import prod

import numpy as np

from opcert.generator.arrays.element_types import ELEMENT_TYPES, Array, name_of
from opcert.generator.certificate.certificate import Certificate
from opcert.generator.run.comparison import same_value
from opcert.generator.run.excerpts import KEPT, Excerpt, shown, window
from opcert.generator.suite.format import IndexedCase
from opcert.generator.suite.operator_suite import OperatorSuite
from opcert.generator.suite.suite import Cases
from opcert.generator.verdicts.causes import causes
from opcert.generator.verdicts.confirmation import representative
from opcert.generator.verification.flaws import Flaw


def excerpt_flaws(certificate: Certificate, cases: Cases) -> Iterator[Flaw]:
    """Yield what is wrong with each excerpt: of a case that has none, or not of golden outputs."""
    failed = [each for each in certificate.verdicts if each.case in cases]
    found = causes(failed)
    known = certificate.reproductions
    kinds = {representative(cause, known, cases).case: cause.kind for cause in found}
    of_elements = {case: kind for case, kind in kinds.items() if kind in ("value", "bits")}
    details = {each.case: each.detail for each in failed}
    for name in of_elements.keys() - certificate.excerpts.keys():
        yield Flaw(f"excerpts, {name}", "there is none; expected one of what stands for its cause")
    for name, excerpt in certificate.excerpts.items():
        wrong = "of no failure, or not of the one that stands for its cause"
        if name in kinds:
            wrong = _mistake(*cases[name], excerpt)
            if not wrong and name in of_elements:
                wrong = _of_another(of_elements[name], excerpt, details[name])
        if wrong:
            yield Flaw(f"excerpts, {name}", wrong)


def _mistake(operator: OperatorSuite, case: IndexedCase, excerpt: Excerpt) -> str:
    size = ELEMENT_TYPES[excerpt.type].itemsize * min(KEPT, prod(excerpt.shape) - excerpt.start)
    parts = [bytes.fromhex(each) for each in (excerpt.expected, excerpt.actual)]
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


def _of_another(kind: str, excerpt: Excerpt, detail: str) -> str:
    """Say where an excerpt shows another difference than a verdict of values or of bits tells."""
    dtype = ELEMENT_TYPES[excerpt.type]
    expected, actual = (
        np.frombuffer(bytes.fromhex(each), dtype) for each in (excerpt.expected, excerpt.actual)
    )
    unequal = ~same_value(expected, actual)
    found = "value" if unequal.any() else "bits"
    if found != kind:
        return f"shows a difference of the kind {found}, the verdict is {kind}"
    elements = [*shown(excerpt)]
    differing = unequal if kind == "value" else [each.differs for each in elements]
    number = int(np.argmax(differing))
    size, first = prod(excerpt.shape), elements[number].told
    if (start := window(excerpt.start + number, size)[0]) != excerpt.start:
        return f"begins at {excerpt.start}; expected {start}, by the first element that differs"
    # How many differ is seen only where all are shown.
    count = f"{int(np.sum(differing))} " if len(elements) == size else ""
    told = f"output {excerpt.output} differs in {count}", f"of {size} elements", f"first at {first}"
    wrong = not all(each in detail for each in told)
    return f"shows another first one, or other numbers: {first}" if wrong else ""


def _is_part(expected: bytes, excerpt: Excerpt, golden: list[Array]) -> bool:
    """Whether an excerpt has the elements that one of the golden outputs has there."""
    if excerpt.output >= len(golden):
        return False
    array = golden[excerpt.output]
    if (name_of(array.dtype), array.shape) != (excerpt.type, excerpt.shape):
        return False
    begin = excerpt.start * array.itemsize
    return array.tobytes()[begin : begin + len(expected)] == expected
