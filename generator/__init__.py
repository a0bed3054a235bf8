"""opcert's pipeline; data flows down this list, and no module imports one further down.

spec, spec_files           what an operator is: YAML -> model, every mistake with its place
drawing, cases             spec -> cases, each one call of the operator and why it exists
vectors                    case -> vector: its arrays, goldens proved by the reference
laws                       how outputs are tied to inputs and to other calls
emit, suite, generation    vectors -> suite: packs, indexes, pytest files, manifest; and back
backends, support          what is certified, and what it says that it supports
run, rehearsal, verdict    vector x backend -> outcome -> verdict
stage, trials, explore     spec x backend -> findings: fresh calls beyond the suite
snippets                   finding -> Python and YAML that show it
claims, waivers            what a vendor says is supported, and which failures are known
certification              suite x backend -> verdicts, also for pytest
certificate, certify_suite verdicts -> certificate: a whole run, or the rest of one
configuration              options -> the configurations that each get a certificate
claim_draft                certificate -> claim
accounts, case_programs    a case -> what it is there for, and Python that makes its call
operator_page, pages       spec, suite -> HTML: each rule with the cases behind it
causes, report_files       certificate x suite -> report.html, junit.xml
submission, signing        certificate -> the folder that is handed in, signed
verification, rerun        certificate x suite -> flaws
report, cli                how it reads, and opcert certify, verify and the others
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opcert.generator.certificate import Certificate
    from opcert.generator.certificate_file import read_certificate
    from opcert.generator.certify_suite import certify
    from opcert.generator.configuration import configurations
    from opcert.generator.generation import generate

__all__ = ["Certificate", "certify", "configurations", "generate", "read_certificate"]

_HOMES = {
    "Certificate": "certificate",
    "certify": "certify_suite",
    "configurations": "configuration",
    "generate": "generation",
    "read_certificate": "certificate_file",
}


def __getattr__(name: str) -> Any:
    # Looked up when used: the command line starts without NumPy and pydantic.
    if name not in _HOMES:
        raise AttributeError(f"module 'opcert.generator' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"opcert.generator.{_HOMES[name]}"), name)
