"""Verdicts -> certificate: what was certified, on what, with what result."""

import json
import platform
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from opcert.generator.errors import OpcertError, SuiteError
from opcert.generator.suite import Suite
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
    verdicts: Sequence[Verdict]

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
        blocking = [f"{count} failures of kind {kind}" for kind, count in failed.most_common()]
        for status in ("crash", "hang", "not-run"):
            if self.counts[status]:
                blocking.append(f"{self.counts[status]} cases with status {status}")
        return [*blocking, *self._unverified()]

    def _unverified(self) -> list[str]:
        verified = {v.operator for v in self.verdicts if v.status == "pass" or v.kind == "bits"}
        in_scope = {v.operator for v in self.verdicts if v.observed != "not-run"}
        if not verified:
            return ["nothing was verified"]
        return [f"nothing of {name} was verified" for name in sorted(in_scope - verified)]

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
            "opcert": version("opcert"),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "conformant": self.conformant,
            "grade": self.grade,
            "reasons": self.reasons,
            "suite": self.suite,
            "selection": self.selection,
            "backend": self.backend,
            "platform": {
                "system": platform.system(),
                "machine": platform.machine(),
                "python": platform.python_version(),
                "numpy": version("numpy"),
            },
            "summary": {"cases": len(self.verdicts), **self.counts},
            "operators": self.operators,
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "files": {},
        }
        return json.dumps(content, indent=1, default=str) + "\n"


def write_certificate(certificate: Certificate, out: Path, suite: Path | None) -> Path:
    """Write certificate.json to the folder `out`, whole or not at all; never into the suite.

    Raises:
        OpcertError: `out` is in the suite's folder, or cannot be written.
    """
    folder = (suite or Suite().folder).resolve()
    target = out.resolve() / "certificate.json"
    if target.is_relative_to(folder):
        raise SuiteError(f"{out}: is inside the suite {folder}; expected a folder outside it")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=".certificate-", delete=False, encoding="utf-8"
        ) as file:
            file.write(certificate.to_json())
        Path(file.name).replace(target)
    except OSError as error:
        raise OpcertError(f"{target}: cannot be written: {error.strerror or error}") from None
    return target
