"""What the arguments of several commands select: cases of a suite, a certificate in a folder."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from opcert.certificate.certificate import Certificate
from opcert.certificate.file import CERTIFICATE_FILE
from opcert.commands.options import warn
from opcert.errors import OpcertError, did_you_mean
from opcert.scope.support import unknown_operators
from opcert.specification.references import shipped_operators
from opcert.suite.suite import Suite, core_suite_folder


def check_selection(suite: Suite, operator: str | None, case: str = "*") -> None:
    """Check that some case of a suite matches both globs.

    Raises:
        OpcertError: none does.
    """
    operator = "*" if operator is None else operator
    known = [*suite.manifest.operators]
    matching = [name for name in known if fnmatchcase(name, operator)]
    if not matching:
        if suite.folder == core_suite_folder():
            known = shipped_operators()
        raise OpcertError(f"no operator matches '{operator}'{did_you_mean(operator, known)}")
    if case == "*" and all(suite.manifest.operators[name].cases for name in matching):
        # To read the cases takes seconds for many; processes of the run start meanwhile.
        return
    ids = suite.select(operator, "*")
    if not suite.select(operator, case):
        near = did_you_mean(case, get_close_matches(case, ids, n=1)) or f"; one is '{ids[0]}'"
        raise OpcertError(f"no case matches '{case}'{near}")


def certificate_file(path: Path) -> Path:
    """Return the file of a certificate: `path`, or the certificate in the folder `path`.

    Raises:
        OpcertError: the folder has several configurations, each with a certificate of its own.
    """
    if not path.is_dir():
        return path
    file = path / CERTIFICATE_FILE
    if not file.exists():
        names = sorted(
            folder.name for folder in path.iterdir() if (folder / CERTIFICATE_FILE).is_file()
        )
        if names:
            listed = names if len(names) <= 20 else [*names[:19], "...", names[-1]]
            raise OpcertError(
                f"{path}: found certificates of {len(names)} configurations; expected one "
                f"certificate: name {path / names[0]} or another of {', '.join(listed)}"
            )
    return file


def warn_of_unknown_operators(certificate: Certificate, suite: Suite) -> None:
    """Warn of declared operators that neither `suite` nor the shipped specs have."""
    names = unknown_operators(certificate.backend.support or {}, suite)
    if names:
        text = "the backend declares operators that neither this suite nor the shipped specs have"
        warn(f"{text}: {', '.join(names)}")
