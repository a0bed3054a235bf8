"""The command line that makes the run of a certificate again."""

import json
from pathlib import Path
from shlex import quote

from opcert.certificate.certificate import Certificate
from opcert.certificate.submission import CLAIM_FILE, WAIVERS_FILE
from opcert.run.settings import DEFAULTS, OPTIONS, RunSettings
from opcert.specification.references import shipped_operators

# The placeholder for the folder of a suite that does not come with opcert.
SUITE_FOLDER = "SUITE"


def command_line(certificate: Certificate) -> str:
    """Return the command that makes the run again; a certificate has no folders of the machine.

    A backend that was passed as an object has a call of Python instead.
    """
    changes = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in _settings(certificate).changes().items()
    }
    suite = {} if _comes_with_opcert(certificate) else {"suite": SUITE_FOLDER}
    if certificate.backend.source is None:
        keywords = [f"{name}={value!r}" for name, value in {**suite, **changes}.items()]
        return f"opcert.certify({', '.join(['backend', *keywords])})"
    words = ["opcert", "certify", "--backend", certificate.backend.source]
    for name, option in certificate.backend.options.items():
        text = option if isinstance(option, str) else json.dumps(option)
        words += ["--backend-option", f"{name}={text}"]
    for name, value in suite.items():
        words += [f"--{name}", value]
    for name, value in changes.items():
        words.append(OPTIONS[name].names[0])
        if not OPTIONS[name].is_flag:
            words.append(f"{value:g}" if isinstance(value, float) else f"{value}")
    return " ".join(map(quote, words))


def _settings(certificate: Certificate) -> RunSettings:
    selection, run = certificate.selection, certificate.run
    named = certificate.backend.source not in (None, "reference")
    return RunSettings(
        operator=None if selection.operator == "*" else selection.operator,
        case=selection.case,
        feature_level=selection.feature_level,
        claim=None if certificate.claim is None else Path(CLAIM_FILE),
        waivers=None if certificate.waivers is None else Path(WAIVERS_FILE),
        isolated=False if named and not run.isolated else None,
        timeout=run.timeout or DEFAULTS["timeout"],
        memory=(run.memory or 0) >> 20,
        jobs=run.jobs if run.cluster is None else 1,
    )


def _comes_with_opcert(certificate: Certificate) -> bool:
    """Whether `certify` finds or generates the suite by itself, from opcert's own specs."""
    suite = certificate.suite
    return (
        suite.profile == "core" and suite.seed == 0 and suite.specs.keys() <= {*shipped_operators()}
    )
