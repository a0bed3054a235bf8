"""Verdicts -> certificate: what was certified, on what, with what result."""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcert.generator.errors import OpcertError, SuiteError, did_you_mean
from opcert.generator.suite import default_folder
from opcert.generator.verdict import Verdict

SCHEMA = 1
STATUSES = (
    *("pass", "fail", "unsupported", "crash", "hang", "not-run"),
    *("waived", "out-of-claim", "implementation-defined"),
)


@dataclass(frozen=True)
class Certificate:
    """The verdicts of one run of a backend on a suite, and what follows from them."""

    backend: dict[str, Any]
    suite: dict[str, Any]
    selection: dict[str, Any]
    platform: dict[str, str]
    verdicts: Sequence[Verdict]
    claim: dict[str, Any] | None = None
    waivers: dict[str, Any] | None = None

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many verdicts have each status."""
        found = Counter(verdict.status for verdict in self.verdicts)
        return {status: found[status] for status in STATUSES}

    @cached_property
    def operators(self) -> dict[str, dict[str, int]]:
        """For each operator, how many of its verdicts have each status."""
        found: dict[str, Counter[str]] = {}
        for verdict in self.verdicts:
            found.setdefault(verdict.operator, Counter())[verdict.status] += 1
        return {
            name: {status: counts[status] for status in STATUSES} for name, counts in found.items()
        }

    @cached_property
    def reasons(self) -> list[str]:
        """Why the backend is not conformant; nothing where it is."""
        failed = Counter(v.kind for v in self.verdicts if v.status == "fail" and v.kind != "bits")
        blocking = [f"{count} x {kind}" for kind, count in failed.most_common()]
        for status in ("crash", "hang", "not-run"):
            if self.counts[status]:
                blocking.append(f"{self.counts[status]} x {status}")
        return [*blocking, *self._unverified()]

    def _unverified(self) -> list[str]:
        verified = {
            v.operator
            for v in self.verdicts
            if v.status == "pass" or (v.status == "fail" and v.kind == "bits")
        }
        claimed = () if self.claim is None else self.claim["content"]["operators"]
        in_scope = {
            v.operator for v in self.verdicts if v.observed != "not-run" or v.operator in claimed
        }
        if not self.verdicts:
            return [f"nothing was verified: no case matches {self._sought()}"]
        if not verified:
            return ["nothing was verified"]
        return [f"nothing of {name} was verified" for name in sorted(in_scope - verified)]

    def _sought(self) -> str:
        """Say what was asked for, and the operator that may have been meant."""
        operator, case = self.selection["operator"], self.selection["case"]
        near = did_you_mean(operator, list(self.suite["specs"])) if operator != "*" else ""
        return f"operator '{operator}', case '{case}'{near}"

    @property
    def conformant(self) -> bool:
        """Whether every case in scope has a verdict and none of them blocks."""
        return not self.reasons

    @property
    def grade(self) -> str | None:
        """bit-exact, value-exact where only bits differ, or None where not conformant."""
        if not self.conformant:
            return None
        return "value-exact" if self.counts["fail"] else "bit-exact"

    def to_json(self) -> str:
        """Return the text of certificate.json."""
        content = {
            "schema": SCHEMA,
            "conformant": self.conformant,
            "grade": self.grade,
            "reasons": self.reasons,
            "suite": self.suite,
            "selection": self.selection,
            "backend": self.backend,
            "claim": self.claim,
            "waivers": self.waivers,
            "platform": self.platform,
            "summary": {"cases": len(self.verdicts), **self.counts},
            "operators": self.operators,
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "files": {},
        }
        return json.dumps(content, indent=1) + "\n"


def this_platform() -> dict[str, str]:
    """Return where and when a run takes place, as a certificate says it."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "opcert": version("opcert"),
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


def certificate_path(out: Path, suite: Path | None) -> Path:
    """Return where in the folder `out`, which is made, a certificate goes: never into the suite.

    Raises:
        OpcertError: `out` is in a suite's folder, or cannot be made.
    """
    try:
        target = out.resolve() / "certificate.json"
        refuse_suite(target, suite)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise OpcertError(f"{target}: a folder; expected a file, or nothing")
    except (OSError, RuntimeError) as error:
        raise OpcertError(f"{out}: cannot be made: {error}") from None
    return target


def refuse_suite(target: Path, suite: Path | None) -> None:
    """Refuse to write `target`, a resolved path, into a suite.

    Raises:
        SuiteError: it is in the folder of opcert's own suite, or of `suite`.
    """
    for folder in {default_folder().resolve(), (suite or default_folder()).resolve()}:
        if target.is_relative_to(folder):
            raise SuiteError(f"{target}: is inside the suite {folder}; expected a place outside")


def write_certificate(certificate: Certificate, target: Path) -> None:
    """Write a certificate to the file `target`, whole or not at all.

    Raises:
        OpcertError: it cannot be written.
    """
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_text(certificate.to_json(), encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise OpcertError(f"{target}: cannot be written: {error.strerror or error}") from None
