"""Mutant -> fate: the core suite run on a mutant as the backend, up to the first failure."""

import builtins
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

from opcert.arrays.element_types import Array
from opcert.specification.files import read_specs_in
from opcert.specs import CORE_OPERATORS
from opcert.suite.format import IndexedCase
from opcert.suite.suite import Suite
from opcert.verdicts.certification import Certification
from opcert.verdicts.verdict import Verdict
from tests.mutation.mutants import MODULES, Mutant, source_of

# No case can kill a module that cannot be imported. A distinguished mutant names another rule than
# the broken one, or decides an ambiguity differently: the suite records both, and `opcert generate
# --check` fails on them, but no certificate rests on them.
Fate = Literal["not importable", "killed", "distinguished", "timed out", "crashed", "survived"]
PACKAGE = "opcert.reference."


class FreshReference:
    """The reference's modules from given sources, none of them shared with the installed ones."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = {PACKAGE + name: source for name, source in sources.items()}
        self.modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """Return the module of that full name, executed when it is first asked for."""
        if name not in self.modules:
            module = self.modules[name] = ModuleType(name)
            vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._imported}
            exec(compile(self._sources[name], name, "exec"), vars(module))  # noqa: S102 -- our own
        return self.modules[name]

    def _imported(self, name: str, *arguments: Any) -> ModuleType:
        return self.module(name) if name in self._sources else __import__(name, *arguments)


class MutatedReference:
    """A reference function as the backend; what fails but by a rule is no rejection."""

    name, version = "mutant", "1"

    def __init__(self, operator: str, sources: Mapping[str, str]) -> None:
        module, function = _homes()[operator]
        self.reference = FreshReference(sources)
        self._function = getattr(self.reference.module(module), function)
        self._rejection: type[Exception] = self.reference.module(PACKAGE + "rules").RuleBroken

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        try:
            outputs: Sequence[Array] = self._function(**inputs, **attributes)
        except self._rejection:
            raise
        except Exception:
            return []
        return outputs


def fate_of(mutant: Mutant) -> Fate:
    """Run the operators that the mutant's module serves, one after the other."""
    sources = {**_sources(), mutant.module: mutant.source}
    fates: set[Fate] = set()
    with warnings.catch_warnings(action="ignore"):
        for operator in served_by(mutant.module):
            try:
                backend = MutatedReference(operator, sources)
            except Exception:
                return "not importable"
            fates.add(_fate(backend, operator))
            if "killed" in fates:
                return "killed"
    return "distinguished" if "distinguished" in fates else "survived"


def _fate(backend: MutatedReference, operator: str) -> Fate:
    certification = Certification(backend, _suite())
    distinguished = False
    for name, case in _suite().operators[operator].cases.items():
        verdict = certification.verdict(name)
        if verdict.status == "fail":
            return "killed"
        distinguished = distinguished or not _as_recorded(case, verdict)
    if any(verdict.status == "fail" for verdict in certification.finish()):
        return "killed"
    return "distinguished" if distinguished else "survived"


def _as_recorded(case: IndexedCase, verdict: Verdict) -> bool:
    """Whether a case that does not fail is as it is with the reference itself, to the rule."""
    passed = "pass: " if case.ambiguity is not None else ""
    if case.expects == "rejection":
        passed += f"rejected: RuleBroken: {case.violated_rule}: "
    return passed in verdict.detail


@cache
def served_by(module: str) -> list[str]:
    """Return the operators whose reference function comes to use a module, its own first."""
    users = []
    for operator, (home, _) in _homes().items():
        used = MutatedReference(operator, _sources()).reference.modules
        users += [(home != PACKAGE + module, operator)] if PACKAGE + module in used else []
    return [operator for _, operator in sorted(users)]


@cache
def _homes() -> dict[str, list[str]]:
    """Return the module and the function that the spec of each core operator names."""
    return {
        each.spec.operator: each.spec.reference.split(":")
        for each in read_specs_in(None)
        if each.spec.operator in CORE_OPERATORS
    }


@cache
def _sources() -> dict[str, str]:
    return {module: source_of(module) for module in MODULES}


@cache
def _suite() -> Suite:
    return Suite()
