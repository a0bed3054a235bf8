"""Spec -> what an index says of its document: rules, ambiguities, errata, and words for levels."""

from collections.abc import Mapping

from opcert.cases import levels_by_factor, role_factors
from opcert.specification import Spec
from opcert.suite.format import AmbiguityText, DocumentText, ErratumText, RuleText


def document_text(spec: Spec) -> DocumentText:
    """Return which document a spec states."""
    document = spec.document
    return DocumentText(
        title=document.title,
        version=document.version,
        language=document.language,
        sha256=document.sha256,
    )


def rule_texts(spec: Spec) -> dict[str, RuleText]:
    """Return what each rule says, by its full id."""
    return {
        spec.full_id(rule.id): RuleText(
            clause=rule.clause, text=rule.text, errata=errata_of(spec, rule.id)
        )
        for rule in spec.rules
    }


def ambiguity_texts(spec: Spec) -> dict[str, AmbiguityText]:
    """Return what each ambiguity asks and the two answers, by its full id."""
    return {
        spec.full_id(each.id): AmbiguityText(
            clause=each.clause,
            text=each.text,
            valid=each.readings.valid,
            invalid=each.readings.invalid,
            errata=errata_of(spec, each.id),
        )
        for each in spec.ambiguities
    }


def erratum_texts(spec: Spec) -> dict[str, ErratumText]:
    """Return each erratum by its full id."""
    return {
        spec.full_id(each.id): ErratumText(
            clause=each.clause,
            text=each.text,
            reading=each.reading,
            affects=spec.full_ids(*each.affects),
        )
        for each in spec.errata
    }


def errata_of(spec: Spec, name: str) -> tuple[str, ...]:
    """Return the full ids of the errata that affect a rule, an ambiguity or an example."""
    return spec.full_ids(*(each.id for each in spec.errata if name in each.affects))


def level_words(spec: Spec, profile: str) -> dict[str, dict[str, str]]:
    """Return what a sentence calls each level of each factor in a profile."""
    written = {factor.name: factor.words for factor in role_factors(spec, profile)}
    written.update(spec.cases.words)
    return {
        factor: {level.name: _words(written, factor, level.name) for level in levels}
        for factor, levels in levels_by_factor(spec, profile).items()
    }


def _words(written: Mapping[str, str | Mapping[str, str]], factor: str, level: str) -> str:
    words = written.get(factor) or {}
    readable = level.replace("_", " ")
    if isinstance(words, str):
        return words.replace("{}", readable)
    return words.get(level, f"{factor.replace('_', ' ')} {readable}")
