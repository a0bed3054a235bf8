"""What a vendor claims that a backend supports: inside it all has to work, outside none counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from opcert.generator.element_types import ELEMENT_TYPES
from opcert.generator.errors import Mistake, SpecError, did_you_mean
from opcert.generator.model_mistakes import content_of
from opcert.generator.suite import Suite, default_folder, read_manifest
from opcert.generator.support import About, OperatorScope
from opcert.generator.yaml_source import Source, SpecPath


class ClaimContent(BaseModel):
    """What a claim's file says; an operator that it leaves out is not claimed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    feature_level: str | None = None
    operators: Mapping[str, OperatorScope]


@dataclass(frozen=True)
class Claim:
    """A claim with the file that it was read from."""

    content: ClaimContent
    source: Source

    def why_left_out(self, operator: str, case: About) -> str | None:
        """Return why `case` is not claimed, or None where it is."""
        scope = self.content.operators.get(operator)
        if scope is None:
            return f"the claim leaves out {operator}"
        beyond = scope.why_left_out(case)
        return beyond and f"the claim leaves out {beyond}"

    def feature_level(self, asked: str | None) -> str | None:
        """Return the feature level to certify, where one was `asked` for besides.

        Raises:
            SpecError: the claim has another one.
        """
        claimed = self.content.feature_level
        if None not in (asked, claimed) and asked != claimed:
            text = f"found '{claimed}', while '{asked}' is asked for; expected the same, or one"
            raise SpecError([self.source.mistake(("feature_level",), text)])
        return asked if claimed is None else claimed


def read_claim(path: Path, suite: Suite, operator: str = "*") -> Claim:
    """Read the claim at `path`, for the operators of `suite` that match the glob `operator`.

    Raises:
        SpecError: it is of another form, or names what there is not.
    """
    source = Source(path)
    claim = Claim(content_of(source, TypeAdapter(ClaimContent), ClaimContent), source)
    mistakes = _level_mistakes(claim, suite)
    # A part of a suite may go with a claim of more.
    known = sorted({*suite.operators, *read_manifest(default_folder()).operators})
    for name, scope in claim.content.operators.items():
        place: SpecPath = ("operators", name)
        if name not in known and fnmatchcase(name, operator):
            text = f"unknown operator '{name}'{did_you_mean(name, known)}"
            mistakes.append(source.mistake(place, text))
        mistakes += _scope_mistakes(source, place, scope, suite)
    if mistakes:
        raise SpecError(mistakes)
    return claim


def _level_mistakes(claim: Claim, suite: Suite) -> list[Mistake]:
    level, known = claim.content.feature_level, suite.feature_levels
    if level is None or level in known:
        return []
    text = f"no operator has feature level '{level}'{did_you_mean(level, known)}"
    return [claim.source.mistake(("feature_level",), text)]


def _scope_mistakes(
    source: Source, place: SpecPath, scope: OperatorScope, suite: Suite
) -> list[Mistake]:
    """Return what a scope names that there is not."""
    name = str(place[-1])
    types = list(ELEMENT_TYPES)
    parts = [
        ("types", "type", scope.types or [], types),
        ("index_types", "type", scope.index_types or [], types),
    ]
    if name in suite.operators:
        known = sorted(suite.operators[name].exclusions)
        parts.append(("excluded", f"rule or level of {name}", scope.excluded, known))
    return [
        source.mistake((*place, key, i), f"unknown {what} '{each}'{did_you_mean(each, known)}")
        for key, what, found, known in parts
        for i, each in enumerate(found)
        if each not in known
    ]
