"""Suite x backend -> certificate: the whole run, in this process."""

import tempfile
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from opcert.generator.backends import Backend, checked, closed, load
from opcert.generator.certificate import Certificate, this_platform
from opcert.generator.certification import Certification
from opcert.generator.errors import OpcertError
from opcert.generator.generation import generate
from opcert.generator.suite import Suite
from opcert.generator.verdict import Verdict

# Told each verdict, its number and how many there will be.
OnVerdict = Callable[[Verdict, int, int], None]


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
    progress: OnVerdict = lambda *_: None,
) -> Certificate:
    """Run the cases of a suite on a backend, in this process, and certify what it did.

    `backend` is an object or what `load` looks up; `options` then go to its constructor. `suite`
    is a folder, by default the core suite of opcert; without it and with `specs`, it is made from
    those, which the reference then follows too. `operator` and `case` are globs.

    Raises:
        OpcertError: backend, suite, specs or selection are at fault.
    """
    if isolated:
        raise OpcertError("a backend cannot run isolated yet; expected isolated=None or False")
    opened = _opened(suite, specs, operator)
    given = dict(options or {})
    found = _backend(backend, given, specs)
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
    try:
        for number, name in enumerate(chosen, 1):
            verdict = certification.verdict(name)
            progress(verdict, number, len(chosen))
            if stop_at_failure and verdict.status == "fail":
                break
    finally:
        closed(found)
    for verdict in certification.finish():
        if verdict.case in chosen:
            chosen[verdict.case] = verdict
    return Certificate(
        backend=described,
        suite=opened.identity,
        selection={"operator": operator, "case": case, "feature_level": feature_level},
        platform=here,
        verdicts=list(chosen.values()),
    )


def _opened(suite: str | Path | None, specs: str | Path | None, operator: str) -> Suite:
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
