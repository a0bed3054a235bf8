"""The scope of a run: claims of a vendor, and excluded cases."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from opcert.accuracy.arithmetics import PRECISION, arithmetics
from opcert.errors import SpecError, did_you_mean
from opcert.specification.files import is_selected, shipped_operators
from opcert.suite.format import IndexedCase, StrictModel
from opcert.suite.operator_suite import OperatorSuite
from opcert.suite.suite import Suite
from opcert.suite.support import (
    CaseProperties,
    OperatorScope,
    Support,
    misspelt_operators,
    unknown_names,
    unknown_operators,
)
from opcert.yaml_files import YamlPath, YamlSource, read_source, validated_content

# To look for misspelt names takes time for each of them.
_MAX_OPERATORS = 1000


class ClaimContent(StrictModel):
    """The content of a claim's file. An absent operator is not claimed.

    `arithmetic` names, by operator and element type, the arithmetic that computed results are
    claimed to be within; by default it is the standard one.
    """

    feature_level: str | None = None
    arithmetic: Mapping[str, Mapping[str, str]] = {}
    operators: Annotated[Mapping[str, OperatorScope], Field(max_length=_MAX_OPERATORS)]

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return why the claim excludes `case`, or None if it claims it."""
        scope = self.operators.get(operator)
        reason = operator if scope is None else scope.exclusion_reason(case)
        return None if reason is None else f"the claim excludes {reason}"


@dataclass(frozen=True)
class Claim:
    """A claim with the file that it was read from."""

    content: ClaimContent
    source: YamlSource

    def feature_level(self, requested: str | None) -> str | None:
        """Return the feature level to certify: the claimed level or else the `requested` one.

        Raises:
            SpecError: the two levels differ.
        """
        claimed = self.content.feature_level
        if claimed is None:
            return requested
        if requested not in (None, claimed):
            text = f"found '{claimed}', but feature level '{requested}' was requested"
            mistake = self.source.mistake(("feature_level",), f"{text}; expected the same level")
            raise SpecError([mistake])
        return claimed


def read_claim(path: str | Path | YamlSource, suite: Suite, operator: str = "*") -> Claim:
    """Return the claim in a file, for the operators of `suite` that match the glob `operator`.

    Raises:
        SpecError: the file is malformed, or has an unknown name.
    """
    source = read_source(path)
    content = validated_content(source, TypeAdapter(ClaimContent), ClaimContent)
    mistakes = [
        source.mistake(place, text) for place, text in claim_mistakes(content, suite, operator)
    ]
    if mistakes:
        raise SpecError(mistakes)
    return Claim(content, source)


def claim_mistakes(
    claim: ClaimContent, suite: Suite, operator: str = "*"
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in a claim, with its place.

    An operator that the suite lacks is a mistake only if it matches the glob `operator`, or is
    misspelt: a claim may cover more than one suite.
    """
    level, levels = claim.feature_level, suite.feature_levels
    if level is not None and level not in levels:
        text = f"no operator has feature level '{level}'{did_you_mean(level, levels)}"
        yield ("feature_level",), text
    for name, types in claim.arithmetic.items():
        if name not in claim.operators:
            near = did_you_mean(name, [*claim.operators])
            yield ("arithmetic", name), f"operator '{name}' is not claimed{near}"
        for element_type, arithmetic in types.items():
            here: YamlPath = ("arithmetic", name, element_type)
            if element_type not in PRECISION:
                text = f"no arithmetic of type '{element_type}'; expected {', '.join(PRECISION)}"
                yield here, text
            elif arithmetic not in (names := list(arithmetics(element_type).names)):
                yield here, f"unknown arithmetic '{arithmetic}'{did_you_mean(arithmetic, names)}"
    unknown = unknown_operators(claim.operators, suite)
    misspelt = misspelt_operators(claim.operators, suite)
    known = sorted({*suite.operators, *shipped_operators()})
    for name, scope in claim.operators.items():
        place: YamlPath = ("operators", name)
        if name in misspelt or (name in unknown and is_selected(name, operator)):
            yield place, f"unknown operator '{name}'{did_you_mean(name, known)}"
        for part, text in unknown_names(name, scope, suite):
            yield (*place, *part), text


# The status of a case that is not run.
ExclusionStatus: TypeAlias = Literal["out-of-claim", "unsupported"]


@dataclass(frozen=True)
class Scope:
    """The feature level, the claim and the declared support of a run."""

    feature_level: str | None
    claim: ClaimContent | None
    support: Support

    def exclusion(
        self, operator: OperatorSuite, case: IndexedCase
    ) -> tuple[ExclusionStatus, str] | None:
        """Return the status and the reason of an excluded case, or None if it is in scope."""
        name = operator.index.operator
        claimed = None if self.claim is None else self.claim.operators.get(name)
        declared = (self.support.declared or {}).get(name)
        # An excluded requirement excludes the calls that violate it. An excluded behaviour excludes
        # the negative cases that exhibit it, since a backend may decline them for that alone.
        for rule in (case.violated_rule, *case.extra_behaviours):
            if claimed is not None and rule in claimed.excluded:
                return "out-of-claim", f"the claim excludes {rule}"
            if declared is not None and rule in declared.excluded:
                return "unsupported", f"the declared support excludes {rule}"
        # Otherwise a negative case is in scope if its baseline is, since its own type or rank may
        # break the rule. The scope of a neighbour, a valid call, does not depend on its baseline.
        if case.expects == "rejection" and case.baseline is not None:
            case = operator.cases[case.baseline]
        level = self.feature_level
        if level and operator.index.feature_levels and level not in case.feature_levels:
            return "out-of-claim", f"not in feature level {level}"
        if self.claim is not None:
            reason = self.claim.exclusion_reason(name, case)
            if reason is not None:
                return "out-of-claim", reason
        reason = self.support.exclusion_reason(name, case)
        return None if reason is None else ("unsupported", reason)

    @property
    def exclusions(self) -> dict[str, list[str]]:
        """The rules and levels that claim and declared support exclude, by operator."""
        claimed = {} if self.claim is None else self.claim.operators
        excluded: dict[str, list[str]] = {}
        for name, scope in [*claimed.items(), *(self.support.declared or {}).items()]:
            if scope.excluded:
                excluded[name] = sorted({*excluded.get(name, ()), *scope.excluded})
        return excluded

    def is_claimed(self, operator: str, case: IndexedCase) -> bool:
        """Whether a claim covers `case` itself, so that declining it is a failure.

        A negative case can be outside the claim although its baseline is in scope.
        """
        if self.claim is None or case.ambiguity is not None:
            return False
        return self.claim.exclusion_reason(operator, case) is None
