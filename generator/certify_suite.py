"""Suite x backend -> certificate: the whole run, in this process."""

import tempfile
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opcert.generator.backends import Backend, checked, closed, load
from opcert.generator.certificate import Certificate, this_platform
from opcert.generator.certification import Certification
from opcert.generator.claims import Claim, read_claim
from opcert.generator.errors import OpcertError
from opcert.generator.generation import generate
from opcert.generator.suite import Suite
from opcert.generator.verdict import Verdict
from opcert.generator.waivers import read_waivers

# Told each verdict, its number and how many there will be.
OnVerdict = Callable[[Verdict, int, int], None]


def certify(  # noqa: PLR0913 -- what the command line can say, this can
    backend: str | Backend,
    suite: str | Path | Suite | None = None,
    isolated: bool | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    specs: str | Path | None = None,
    operator: str = "*",
    case: str = "*",
    feature_level: str | None = None,
    claim: str | Path | None = None,
    waivers: str | Path | None = None,
    stop_at_failure: bool = False,
    progress: OnVerdict = lambda *_: None,
) -> Certificate:
    """Run the cases of a suite on a backend, in this process, and certify what it did.

    `backend` is an object or what `load` looks up; `options` then go to its constructor. `suite`
    is a folder, by default the core suite of opcert; without it and with `specs`, it is made from
    those, which the reference then follows too. `operator` and `case` are globs. `claim` says what
    the backend is claimed to support, `waivers` which failures are known.

    Raises:
        OpcertError: backend, suite, specs, selection, claim or waivers are at fault.
    """
    if isolated:
        raise OpcertError("a backend cannot run isolated yet; expected isolated=None or False")
    opened = opened_suite(suite, specs, operator)
    given = dict(options or {})
    # Read before the backend is made, which may change the current folder.
    claimed, level = _claimed(claim, opened, operator, feature_level)
    known = None if waivers is None else read_waivers(Path(waivers), opened, given.get("device"))
    found = _backend(backend, given, specs)
    certification = Certification(found, opened, level, claimed)
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
    try:
        for number, name in enumerate(chosen, 1):
            verdict = certification.verdict(name)
            verdict = verdict if known is None else known.applied(verdict)
            progress(verdict, number, len(chosen))
            if stop_at_failure and verdict.status == "fail":
                break
    finally:
        closed(found)
    for verdict in certification.finish():
        if verdict.case in chosen:
            chosen[verdict.case] = verdict
    verdicts = list(chosen.values())
    return Certificate(
        backend=described,
        suite=opened.identity,
        selection={"operator": operator, "case": case, "feature_level": level},
        platform=here,
        verdicts=verdicts if known is None else known.settled(verdicts),
        claim=None if claimed is None else claimed.described(),
        waivers=None if known is None else known.described(),
    )


def _claimed(
    claim: str | Path | None, suite: Suite, operator: str, feature_level: str | None
) -> tuple[Claim | None, str | None]:
    """Return the claim, and the feature level to certify."""
    if claim is None:
        return None, feature_level
    found = read_claim(Path(claim), suite, operator)
    return found, found.feature_level(feature_level)


def opened_suite(
    suite: str | Path | Suite | None, specs: str | Path | None = None, operator: str = "*"
) -> Suite:
    """Return the suite in a folder, that of opcert, or one made of `specs`."""
    if isinstance(suite, Suite):
        return suite
    found = Path(specs) if specs is not None else None
    if suite is not None or specs is None:
        return Suite(Path(suite) if suite is not None else None, found)
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder) / "suite", specs, operator=operator)
        return Suite(Path(folder) / "suite", found)


def _backend(backend: str | Backend, options: dict[str, Any], specs: str | Path | None) -> Backend:
    if not isinstance(backend, str):
        return checked(backend, type(backend).__name__)
    if backend == "reference" and specs is not None:
        return load(backend, specs=specs, **options)
    return load(backend, **options)
