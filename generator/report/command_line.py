"""The command line that makes the run of a certificate again."""

import json
from collections.abc import Iterator
from shlex import quote

from opcert.certificate.certificate import Certificate
from opcert.certificate.submission import CLAIM_FILE, WAIVERS_FILE
from opcert.isolation.supervised import CALL_TIMEOUT
from opcert.specification.references import shipped_operators

# The placeholder for the folder of a suite that does not come with opcert.
SUITE_FOLDER = "SUITE"


def command_line(certificate: Certificate) -> str:
    """Return the command that makes the run again; a certificate has no folders of the machine.

    A backend that was passed as an object has a call of Python instead.
    """
    if certificate.backend.source is None:
        arguments = ["backend", *(f"{name}={value!r}" for name, value in _keywords(certificate))]
        return f"opcert.certify({', '.join(arguments)})"
    words = ["opcert", "certify", "--backend", certificate.backend.source]
    for name, option in certificate.backend.options.items():
        text = option if isinstance(option, str) else json.dumps(option)
        words += ["--backend-option", f"{name}={text}"]
    for name, value in _keywords(certificate):
        words += [f"--{name.replace('_', '-')}", f"{value:g}" if name == "timeout" else f"{value}"]
    if certificate.backend.source != "reference" and not certificate.run.isolated:
        words.append("--in-process")
    return " ".join(map(quote, words))


def _keywords(certificate: Certificate) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a run that differ from the defaults."""
    selection, run = certificate.selection, certificate.run
    if not _comes_with_opcert(certificate):
        yield "suite", SUITE_FOLDER
    if selection.operator != "*":
        yield "operator", selection.operator
    if selection.case != "*":
        yield "case", selection.case
    if selection.feature_level is not None:
        yield "feature_level", selection.feature_level
    if certificate.claim is not None:
        yield "claim", CLAIM_FILE
    if certificate.waivers is not None:
        yield "waivers", WAIVERS_FILE
    if run.timeout not in (None, CALL_TIMEOUT):
        yield "timeout", run.timeout
    if run.memory is not None:
        yield "memory", run.memory >> 20
    if run.jobs > 1 and run.cluster is None:
        yield "jobs", run.jobs


def _comes_with_opcert(certificate: Certificate) -> bool:
    """Whether `certify` finds or generates the suite by itself, from opcert's own specs."""
    suite = certificate.suite
    return (
        suite.profile == "core" and suite.seed == 0 and suite.specs.keys() <= {*shipped_operators()}
    )
