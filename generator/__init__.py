"""opcert's pipeline; data flows down this list, and no package imports one further down.

arrays         element types, layouts, the data that fills a tensor, calls, packs
combinatorics  constraints, choices and covering arrays over levels; knows no spec
roles          what an argument is to the others: its factors, calls, requirements
specification  what an operator is: YAML -> model, every mistake with its place
cases          spec -> cases -> vectors: calls drawn, mutated, and proved; formulas, laws
backends       what is certified: the contract, the lookup, one file for each runtime
suite          vectors -> suite: packs, indexes, pytest files, manifest; and back; coverage
scope          what counts: declared support, claims, feature levels, waivers
programs       calls -> a Python program that makes them
run            call x backend -> outcome: called, repeated, compared
isolation      the same in separate processes: workers, drivers, configurations
verdicts       vector, outcome -> verdict: causes, confirmation, reduction
panel          spec x suite -> how many generic wrong backends the suite finds
pages          spec, suite -> HTML for each operator; a case explained
exploration    spec x backend -> findings: fresh calls beyond the suite
certificate    verdicts -> certificate: a whole run, or the rest of one; file, folder, signature
report         certificate -> terminal, HTML, JUnit XML, side by side
verification   certificate x suite -> findings
commands       opcert certify, verify and the others; `cli` assembles them
"""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.certificate.certificate import Certificate
    from opcert.certificate.certify_suite import certify
    from opcert.certificate.file import read_certificate
    from opcert.isolation.configuration import configurations
    from opcert.suite.generation import generate
    from opcert.suite.opening import load
    from opcert.version import __version__

__all__ = [
    "Certificate",
    "__version__",
    "certify",
    "configurations",
    "generate",
    "load",
    "read_certificate",
]

__getattr__ = lazy_attributes(
    __name__,
    {
        "certificate.certificate": ("Certificate",),
        "certificate.certify_suite": ("certify",),
        "certificate.file": ("read_certificate",),
        "isolation.configuration": ("configurations",),
        "suite.generation": ("generate",),
        "suite.opening": ("load",),
        "version": ("__version__",),
    },
)
