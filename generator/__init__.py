"""opcert's pipeline; data flows down this list, and no package imports one further down.

arrays         element types, layouts, the data that fills a tensor, calls, packs
choices        named decisions while a call is drawn, and what answers them; knows no spec
diagnosis      failing cases -> the smallest combinations of levels that explain them
roles          what an argument is to the others: what draws it, its requirements
specification  what an operator is: YAML -> model, every mistake with its place
cases          spec -> cases -> vectors: calls drawn, mutated, and proved; formulas, laws
backends       what is certified: the contract, the lookup, one file for each runtime
suite          vectors -> suite, and back: packs, indexes, pytest files, manifest, coverage;
               what counts: declared support, claims, feature levels, waivers
run            call x backend -> outcome: called, repeated, compared
programs       calls -> a Python program that makes them
isolation      the same in separate processes: workers, drivers, configurations
verdicts       vector, outcome -> verdict: causes, confirmation, reduction
strength       spec x suite -> which faults of backends the suite finds, at random and systematic
exploration    spec x backend -> findings: Hypothesis draws, searches and shrinks calls
certificate    verdicts -> certificate: a whole run, or the rest of one; file, folder, signature
report         certificate -> terminal, HTML, JUnit XML; spec, suite -> Markdown; a case explained
verification   certificate x suite -> findings
commands       opcert certify, verify and the others; `cli` assembles them

What `opcert` exports is imported when it is used (PEP 562), so that a worker starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from opcert.certificate.certificate import Certificate
    from opcert.certificate.certify_suite import certify
    from opcert.certificate.file import read_certificate
    from opcert.exploration.calls import calls
    from opcert.isolation.supervised import configurations
    from opcert.suite.generation import generate, load

_MODULES = {
    "Certificate": "certificate.certificate",
    "calls": "exploration.calls",
    "certify": "certificate.certify_suite",
    "configurations": "isolation.supervised",
    "generate": "suite.generation",
    "load": "suite.generation",
    "read_certificate": "certificate.file",
}
__all__ = [
    "Certificate",
    "__version__",
    "calls",
    "certify",
    "configurations",
    "generate",
    "load",
    "read_certificate",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("opcert")
    if name not in _MODULES:
        raise AttributeError(f"module 'opcert' has no attribute '{name}'")
    return getattr(import_module(f"opcert.{_MODULES[name]}"), name)
