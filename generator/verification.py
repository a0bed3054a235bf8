"""Certificate x suite -> findings: contradictions in it, and the files next to it.

The folder is untrusted: links are not followed, and names that lead out of it are refused.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import islice, zip_longest
from math import prod
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from opcert.accuracy.arithmetics import STANDARD, minimal
from opcert.accuracy.bounds import has_accuracy
from opcert.certificate import file as stored
from opcert.certificate.certificate import Certificate, ClaimEntry, WaiversEntry
from opcert.certificate.file import Finding
from opcert.errors import OpcertError, SpecError, abbreviate, listed
from opcert.report.files import JUNIT_FILE, REPORT_FILE, report_files
from opcert.suite.claims import ClaimContent, claim_mistakes
from opcert.suite.format import StoredArray
from opcert.suite.suite import Suite
from opcert.suite.support import unknown_names
from opcert.suite.writing import MAX_FILES
from opcert.system import files_below, open_untrusted
from opcert.verdicts.causes import Diagnosis
from opcert.verdicts.certification import is_repeatable
from opcert.verdicts.fresh_calls import FreshCalls
from opcert.verdicts.judging import Judge, are_results_of_a_rejection
from opcert.verdicts.verdict import Verdict, redact_text
from opcert.verdicts.waivers import Waiver, waived, waiver_mistakes
from opcert.yaml_files import YamlSource, validated_content


def verify_certificate(certificate: Certificate, suite: Suite) -> list[Finding]:
    """Return all findings about a certificate.

    `read_certificate` has already checked its counts and its conclusion. If the certificate is of
    another suite, or its scope has mistakes, nothing else is checked.
    """
    stated, own = (part.model_dump(mode="json") for part in (certificate.suite, suite.identity))
    advice = "name another by --suite or --specs"
    foreign = [
        Finding(place, f"found {found}; this suite has {expected}; {advice}")
        for place, found, expected in stored.json_differences(stated, own, "suite")
    ]
    if mistakes := foreign or [*_scope_findings(certificate, suite)]:
        return mistakes
    findings = [
        *_selection_findings(certificate, suite),
        *_verdict_findings(certificate, suite),
        *_accuracy_findings(certificate, suite),
        *_reproduction_findings(certificate, suite),
        *_fresh_findings(certificate, suite),
        *_repetition_findings(certificate, suite),
    ]
    # A run that was ended has not searched for them.
    if not findings and (certificate.is_finished or certificate.causes):
        findings += _cause_findings(certificate, suite)
    of_versions = "it changed during the run, so its verdicts may be of different versions"
    changed = [
        Finding("run.changed", f"found {name}: {of_versions}; expected a run of one version")
        for name in certificate.run.changed
    ]
    return [*changed, *findings]


def _selection_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield the differences between the cases with verdicts and the selected cases."""
    selection, reached = certificate.selection, certificate.by_case
    selected = dict.fromkeys(suite.select(selection.operator, selection.case))
    for case in reached:
        if case not in selected:
            why = "was not selected" if case in suite.cases else "is not in the suite"
            yield Finding("verdicts", f"found a verdict of {case}, which {why}")
    for case in selected:
        if case not in reached:
            yield Finding("verdicts", f"missing verdict of {case}")
    if reached.keys() == selected.keys() and [*reached] != [*selected]:
        pairs = zip(reached, selected, strict=True)
        found, expected = next(pair for pair in pairs if pair[0] != pair[1])
        yield Finding("verdicts", f"found {found}; expected {expected}, in the order of the suite")


def _scope_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield the mistakes for which a run refuses a claim, a level, a declaration or waivers."""
    scope, level = certificate.scope, certificate.selection.feature_level
    mistakes: list[tuple[tuple[object, ...], str]] = []
    if scope.claim is not None:
        selected = claim_mistakes(scope.claim, suite, certificate.selection.operator)
        mistakes += [(("claim", "content", *place), text) for place, text in selected]
    claimed = level if scope.claim is None else scope.claim.feature_level or level
    if level != claimed or level not in (None, *suite.feature_levels):
        known = listed([*suite.feature_levels]) if claimed == level else f"{claimed}, as claimed"
        mistakes.append((("selection", "feature_level"), f"found {level}; expected {known}"))
    for name, declared in (scope.support.declared or {}).items():
        unknown = unknown_names(name, declared, suite)
        mistakes += [(("backend", "support", name, *place), text) for place, text in unknown]
    day = certificate.platform.date[:10]
    for number, waiver in enumerate(certificate.waivers.content if certificate.waivers else ()):
        mistakes += [
            (("waivers", f"content[{number}]", key), f"on {day}: {text}")
            for key, text in waiver_mistakes(waiver, suite, day)
        ]
    before_waivers = [verdict.without_waiver() for verdict in certificate.verdicts]
    for number, waiver in _waivers(certificate):
        if message := waiver.unused_message(before_waivers):
            mistakes.append((("waivers", f"content[{number}]"), f"found an {message}"))
    for place, text in mistakes:
        yield Finding(".".join(map(str, place)), text)


def _repetition_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield repeated calls that no run repeats, and operators of which none was repeated."""
    repeated: Counter[str] = Counter()
    for name in certificate.run.repeated:
        # It may be a baseline, which needs no verdict.
        operator, case = suite.cases.get(name, (None, None))
        if operator is None or case is None or not is_repeatable(case):
            yield Finding("run.repeated", f"found {name}, which no run repeats")
        else:
            repeated[operator.index.operator] += 1
    # Of several processes, none may be the one to repeat the only case that can be.
    jobs, cluster = certificate.run.jobs, certificate.run.cluster
    is_certain = certificate.is_finished and jobs == 1 and cluster is None
    required = {
        verdict.operator
        for verdict in certificate.verdicts
        if is_certain
        and (verdict.status, verdict.observed) == ("pass", "outputs")
        and verdict.case in suite.cases
        and is_repeatable(suite.cases[verdict.case][1])
    }
    for name in sorted(required | repeated.keys()):
        if repeated[name] != 1:
            text = f"found {repeated[name]} cases of {name}; expected one"
            yield Finding("run.repeated", text)


def _waivers(certificate: Certificate) -> list[tuple[int, Waiver]]:
    """Return the waivers that apply on the device of a certificate, with their numbers."""
    # The certificate states options without the folders of the machine.
    device, entry = certificate.backend.options.get("device"), certificate.waivers
    return [
        (number, waiver)
        for number, waiver in enumerate(() if entry is None else entry.content)
        if waiver.device is None or redact_text(waiver.device) == device
    ]


def _accuracy_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield cases that pass, and whose accuracy is not of their output or less than claimed."""
    for verdict in certificate.verdicts:
        if (verdict.status, verdict.observed) != ("pass", "outputs") or (
            verdict.case not in suite.cases
        ):
            continue
        operator, case = suite.cases[verdict.case]
        accuracy = None if verdict.evidence is None else verdict.evidence.accuracy
        stored_outputs = (o for o in case.outputs if isinstance(o, StoredArray) and o.allowance)
        computed = next(stored_outputs, None)
        place = f"verdicts, {verdict.case}"
        if accuracy is None:
            if computed is not None and any(map(has_accuracy, operator.outputs(case))):
                yield Finding(place, f"missing accuracy of its output of type {computed.type}")
            continue
        size = sum(accuracy.counts) + accuracy.open
        if computed is None or (computed.type, prod(computed.shape)) != (accuracy.type, size):
            text = f"found the accuracy of {size} elements of type {accuracy.type}"
            yield Finding(place, f"{text}; expected that of its computed output, if any")
            continue
        claimed = certificate.claimed.get(verdict.operator, {}).get(accuracy.type, STANDARD)
        # One that contains a stated arithmetic is not minimal with it.
        least = {*minimal([claimed, *accuracy.within], accuracy.type)}
        if claimed in least.difference(accuracy.within):
            within = " or ".join(accuracy.within) or "none"
            text = f"found a pass within {within}; expected one within {claimed}, which is claimed"
            yield Finding(place, text)


def _verdict_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield verdicts that do not follow from what was observed.

    A run of some cases has judged with more than its certificate has: with baselines, and with
    whether the backend declined all calls of a type. A run that was ended has not judged its cases
    with all of them. So what rests on other cases may be as it is.
    """
    known = [verdict for verdict in certificate.verdicts if verdict.case in suite.cases]
    before_waivers = [verdict.without_waiver() for verdict in known]
    waivers = [waiver for _, waiver in _waivers(certificate)]
    cases = (suite.operators[n].cases for n in certificate.operators if n in suite.operators)
    is_finished, is_whole = certificate.is_finished, len(known) == sum(map(len, cases))
    every = [field.name for field in fields(Verdict) if field.compare]
    judged = Judge(suite, certificate.scope).again(before_waivers)
    for verdict, before, again in zip(known, before_waivers, judged, strict=True):
        is_open = not (is_whole and is_finished) and before.is_declined and again.is_declined
        is_open |= not is_finished and are_results_of_a_rejection(before, again)
        follows_from = replace(before, operator=again.operator, rules=again.rules)
        expected = waived(follows_from if is_open else again, waivers)
        for name in every:
            stated, following = getattr(verdict, name), getattr(expected, name)
            if stated != following:
                text = f"found {abbreviate(stated)}; expected {abbreviate(following)}"
                follows = f"{name}: {text}, which follows from what was observed"
                yield Finding(f"verdicts, {verdict.case}", follows)
                break


def _reproduction_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield reproductions with calls that are not of the failure's operator."""
    for case, reproduction in certificate.reproductions.items():
        known = suite.cases[case][0].cases if case in suite.cases else {}
        if any(call.case not in known for call in reproduction.calls):
            text = f"expected calls of cases of the operator of {case}"
            yield Finding(f"reproductions, {case}, calls", text)


def _fresh_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield fresh calls that no spec of the suite draws."""
    for name, calls in certificate.fresh.items():
        if name not in certificate.operators or name not in suite.spec_files:
            yield Finding(f"fresh, {name}", "expected an operator of the certificate with a spec")
            continue
        known = FreshCalls(suite.spec_files[name], suite.manifest)
        for call in calls:
            if known.call(call) is None:
                yield Finding(f"fresh, {name}", f"found {call.name}, which draws no valid call")


def _cause_findings(certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield causes that do not follow from the verdicts."""
    # The run may have lacked the specs of the suite, which describe its cases further.
    for diagnosis in (Diagnosis(suite, {}), Diagnosis(suite)):
        causes = diagnosis.causes(
            certificate.verdicts, certificate.reproductions, certificate.fresh
        )
        if causes == certificate.causes:
            return
    found, expected = len(certificate.causes), len(causes)
    if found != expected:
        text = f"found {found} causes; expected {expected}, which follow from the verdicts"
        yield Finding("causes", text)
        return
    stated, following = (c.to_dict() for c in (certificate, certificate.replace(causes=causes)))
    place, was, follows = next(stored.json_differences(stated, following))
    text = f"found {was}; expected {follows}, which follows from the verdicts"
    yield Finding(place, text)


# The maximum number of bytes that are read of a signature.
MAX_SIGNATURE_BYTES = 1 << 10


def read_signature(certificate: Path) -> bytes | None:
    """Return the text of the signature next to a certificate, or None if it is not signed.

    Raises:
        OpcertError: it cannot be read.
    """
    path = certificate.with_name(f"{certificate.name}.sig")
    try:
        with open_untrusted(path) as file:
            return file.read(MAX_SIGNATURE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OpcertError(f"{path}: {error.strerror}; expected a signature") from None


def form_findings(name: str, content: bytes, certificate: Certificate) -> Iterator[Finding]:
    """Yield the first line of a certificate's file that opcert would format differently."""
    expected = certificate.to_json().encode()
    if content != expected:
        lines = zip_longest(content.splitlines(True), expected.splitlines(True))
        number = next(i for i, (actual, own) in enumerate(lines, 1) if actual != own)
        text = f"line {number} is not formatted as opcert writes it"
        yield Finding(name, f"{text}; expected the original file")


def folder_findings(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield the differences between the files in `folder` and those that a certificate names."""
    names = [*islice(files_below(folder, ()), MAX_FILES)]
    if len(names) == MAX_FILES:
        text = f"found {MAX_FILES} files or more; only the first ones were checked"
        yield Finding(str(folder), text)
    for name in names:
        if name not in {stored.CERTIFICATE_FILE, stored.SIGNATURE_FILE, *certificate.files}:
            yield Finding(name, "the certificate does not name this file; expected no other files")
    for name, expected in certificate.files.items():
        place = f"files.{name}"
        try:
            digest = stored.file_digest(name, _content(folder, name))
        except OSError as error:
            text = f"found {error.strerror}; expected a file with the digest {expected}"
            yield Finding(place, text)
            continue
        if digest != expected:
            yield Finding(place, f"found a file with the digest {digest}; expected {expected}")
    yield from _name_findings(certificate)
    yield from _scope_file_findings(folder, certificate)


def _content(folder: Path, name: str) -> bytes:
    """Return the content of a file next to a certificate.

    Raises:
        OSError: it is missing, no file, too large, or reached by a link.
    """
    if any((folder / parent).is_symlink() for parent in Path(name).parents):
        raise OSError(0, "a link in the path, which is not followed")
    with open_untrusted(folder / name) as file:
        if os.fstat(file.fileno()).st_size > stored.MAX_CERTIFICATE_BYTES:
            raise OSError(0, f"more than {stored.MAX_CERTIFICATE_BYTES >> 20} MiB")
        return file.read(stored.MAX_CERTIFICATE_BYTES)


def _name_findings(certificate: Certificate) -> Iterator[Finding]:
    """Yield the files that a certificate must not name, and those that it lacks."""
    finished = certificate.is_finished
    run = "such a run" if finished else "an unfinished run"
    written = {REPORT_FILE, JUNIT_FILE} if finished else set[str]()
    written |= {stored.CLAIM_FILE} if certificate.claim else set()
    written |= {stored.WAIVERS_FILE} if certificate.waivers else set()
    for name in sorted(certificate.files.keys() - written):
        yield Finding(f"files.{name}", f"opcert writes no such file for {run}")
    for name in sorted(written - certificate.files.keys()):
        yield Finding(f"files.{name}", f"missing file; expected one for {run}")


def _scope_file_findings(folder: Path, certificate: Certificate) -> Iterator[Finding]:
    """Yield the differences between claim, waivers and their files next to the certificate."""
    entries: Mapping[str, tuple[str, ClaimEntry | WaiversEntry | None, Any, type[BaseModel]]] = {
        stored.CLAIM_FILE: ("claim", certificate.claim, ClaimContent, ClaimContent),
        stored.WAIVERS_FILE: ("waivers", certificate.waivers, tuple[Waiver, ...], Waiver),
    }
    for name, (part, entry, form, model) in entries.items():
        named = certificate.files.get(name)
        if entry is None or named is None:
            continue
        if named != entry.sha256:
            text = f"found {named}; expected {entry.sha256}, the digest in {part}.sha256"
            yield Finding(f"files.{name}", text)
            continue
        try:
            open_untrusted(folder / name).close()
            content = validated_content(YamlSource(folder / name), TypeAdapter(form), model)
        except (OSError, SpecError):
            content = None
        if content != entry.content:
            yield Finding(f"{part}.content", f"differs from the content of {name}")


def report_findings(folder: Path, certificate: Certificate, suite: Suite) -> Iterator[Finding]:
    """Yield the differences between the report and a newly rendered one.

    The certificate must have no findings, and `suite` must be its suite.
    """
    rendered = report_files(certificate, suite) if certificate.is_finished else {}
    for name, expected in rendered.items():
        try:
            content = _content(folder, name)
        except OSError:
            # A finding about the file says so.
            continue
        found, digest = stored.file_digest(name, content), stored.file_digest(name, expected)
        if found != digest:
            text = f"found {found}; opcert renders this certificate with digest {digest}"
            yield Finding(f"files.{name}", text)
        elif content != expected:
            yield Finding(name, "found other times than those of the certificate")
