"""Suite x backend -> certificate: the whole run."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opcert.generator.backends import Backend, checked, closed
from opcert.generator.certificate import Certificate, this_platform
from opcert.generator.certification import Certification
from opcert.generator.confirmation import confirmed
from opcert.generator.errors import OpcertError
from opcert.generator.generation import generate
from opcert.generator.suite import Suite
from opcert.generator.supervised import TIMEOUT, Supervised, hosted
from opcert.generator.verdict import FAILURES, Verdict

# Told each verdict, its number and how many there will be.
OnVerdict = Callable[[Verdict, int, int], None]


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted, with the certificate of what was reached."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__()
        self.certificate = certificate


def certify(
    backend: str | Backend,
    suite: str | Path | None = None,
    isolated: bool | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    case: str = "*",
    feature_level: str | None = None,
    stop_at_failure: bool = False,
    timeout: float = TIMEOUT,
    memory: int = 0,
    progress: OnVerdict = lambda *_: None,
) -> Certificate:
    """Run the cases of a suite on a backend, and certify what it did.

    `backend` is an object, which runs in this process, or what `load` looks up; `options` then go
    to its constructor, and it runs in a process of its own unless it is the reference, or as
    `isolated` says. There a call may take `timeout` seconds, and the process `memory` bytes (0 for
    any); one that crashes or hangs is a verdict. `suite` is a folder, by default the core suite of
    opcert; without it and with `specs`, it is made from those, which the reference then follows
    too. `operator` and `case` are globs.

    Raises:
        OpcertError: backend, suite, specs or selection are at fault.
        Interrupted: with the certificate of what was reached, the rest not-run.
    """
    opened = _opened(suite, specs, operator)
    given = dict(options or {})
    found = _backend(backend, given, specs, isolated, timeout, memory)
    certification = Certification(found, opened, feature_level)
    described = {
        "name": found.name,
        "version": found.version,
        "options": given,
        "support": certification.support.described(),
    }
    here = this_platform()
    chosen = {
        each.id: Verdict(each.id, of.index.operator, "not-run", None, "not-run", each.rules, "")
        for of, each in opened
        if fnmatchcase(of.index.operator, operator) and fnmatchcase(each.id, case)
    }
    ended = _run(certification, list(chosen), progress, stop_at_failure)
    chosen |= {each.case: each for each in certification.finish() if each.case in chosen}
    if isinstance(found, Supervised) and not ended:
        chosen |= confirmed(found, opened, feature_level, chosen)
    closed(found)
    certificate = Certificate(
        backend=described,
        suite=opened.identity,
        selection={"operator": operator, "case": case, "feature_level": feature_level},
        platform=here,
        verdicts=list(chosen.values()),
    )
    if ended:
        raise Interrupted(certificate)
    return certificate


def _run(
    certification: Certification, chosen: Sequence[str], progress: OnVerdict, stop_at_failure: bool
) -> bool:
    """Run cases until they are done, or return True where an interrupt ended them."""
    try:
        for number, name in enumerate(chosen, 1):
            verdict = certification.verdict(name)
            progress(verdict, number, len(chosen))
            if stop_at_failure and verdict.status in FAILURES:
                break
    except KeyboardInterrupt:
        if isinstance(certification.backend, Supervised):
            certification.backend.close()
        return True
    return False


def _opened(suite: str | Path | None, specs: str | Path | None, operator: str) -> Suite:
    found = Path(specs) if specs is not None else None
    if suite is not None or specs is None:
        return Suite(Path(suite) if suite is not None else None, found)
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "suite", specs, operator=operator)
        return Suite(Path(folder) / "suite", found)


def _backend(
    backend: str | Backend,
    options: dict[str, Any],
    specs: str | Path | None,
    isolated: bool | None,
    timeout: float,
    memory: int,
) -> Backend:
    if not isinstance(backend, str):
        if isolated:
            text = "an object runs in this process; expected what `--backend` takes, to isolate it"
            raise OpcertError(text)
        return checked(backend, type(backend).__name__)
    if backend == "reference" and specs is not None:
        options = {"specs": str(specs), **options}
    return hosted(backend, options, isolated, timeout=timeout, memory=memory)
