"""The contract of a backend: its members, and how it rejects."""

import linecache
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from traceback import walk_tb
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

from opcert.arrays.element_types import Array
from opcert.errors import BackendError, describe_error, safe_repr

# The inputs or the attributes of a call by name, where a variadic input is a list of arrays; or the
# options of a constructor.
Arguments: TypeAlias = Mapping[str, Any]
# The number of lines that are kept, and the maximum length of each.
_MAX_LINES, _MAX_LENGTH = 3, 160
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_ADAPTERS = Path(__file__).parent
_OPCERT = _ADAPTERS.parent
# They import and check a vendor's code; the other modules of this folder are backends.
_CALLERS = {_ADAPTERS / name for name in ("contract.py", "lookup.py")}


def own_lines(error: BaseException) -> list[str]:
    """Return the innermost lines of the backend's own source, the innermost one last.

    Its source begins below opcert's calls. The lines of libraries that it calls are left out: they
    say less about its fault. A path has no folder of this machine. The backends that come with
    opcert have no lines.
    """
    # The exception's class may define an attribute of this name. `extract_tb` would look for
    # changes of each file, for each of thousands of rejections.
    frames = walk_tb(BaseException.__dict__["__traceback__"].__get__(error))
    places = [(frame.f_code, number) for frame, number in frames]
    first = next((c.co_filename for c, _ in places if not _is_caller(c.co_filename)), None)
    if first is None or Path(first).is_relative_to(_OPCERT):
        return []
    lines = []
    for code, number in places:
        name = _name_in_source(code.co_filename, first)
        if name is not None:
            text = linecache.getline(code.co_filename, number).strip()
            lines.append(f"at {name}:{number}, in {code.co_name}: {text}"[:_MAX_LENGTH])
    return lines[-_MAX_LINES:]


@cache
def _is_caller(name: str) -> bool:
    """Whether a file is of opcert, but no backend, or of Python, which calls what is imported."""
    file = Path(name)
    if file.is_relative_to(_OPCERT):
        return file in _CALLERS or not file.is_relative_to(_ADAPTERS)
    installed = {"site-packages", "dist-packages"} & {*file.parts}
    return not file.is_absolute() or (file.is_relative_to(_STANDARD_LIBRARY) and not installed)


@cache
def _name_in_source(name: str, first: str) -> str | None:
    """Return the name of a file within the source that `first` is part of, or None.

    The source is a package, or the modules of one folder.
    """
    file, begin = Path(name), Path(first)
    root = begin.parent
    while (root / "__init__.py").is_file():
        root = root.parent
    if root == begin.parent:
        return file.name if file.parent == root else None
    package = root / begin.relative_to(root).parts[0]
    return file.relative_to(root).as_posix() if file.is_relative_to(package) else None


MAX_NAME_LENGTH = 1000
NAME_FORMAT = f"printable text, {MAX_NAME_LENGTH} characters at most"


@runtime_checkable
class Backend(Protocol):
    """An implementation under certification.

    Optional members are `support`, the supported calls of each operator (see
    `opcert.suite.support`); `reuse`, a text on what the backend keeps between calls; `close()`; and
    `native(operator, inputs, attributes)`, which returns Python code that defines `run(inputs)`:
    the same call in the API of the runtime. Its class or factory may have `configurations`: for
    each option, the values that `all` means.
    """

    name: str
    version: str

    def run(self, operator: str, inputs: Arguments, attributes: Arguments) -> Sequence[Array]:
        """Compute `operator`. Outputs share no memory with inputs; inputs stay unchanged.

        An input is an array; a variadic one is a list of arrays.

        Raises:
            NotImplementedError: the operator, a type or the like is not supported.
            Exception: the call violates a rule of the operator. The rejection counts as the
                runtime's, unless the exception has an attribute `rejected_by` of "adapter".
        """


class AdapterRejection(ValueError):
    """The adapter, not the runtime, finds that a call violates a rule.

    Such a rejection proves nothing about the runtime. opcert reads only the attribute
    `rejected_by`, so a backend can mark its own exceptions without importing opcert.
    """

    rejected_by = "adapter"


@contextmanager
def adapter_rejections() -> Iterator[None]:
    """Attribute exceptions of this block to the adapter; the block must not call the runtime.

    Raises:
        AdapterRejection: the block raised another exception than NotImplementedError.
    """
    try:
        yield
    except (AdapterRejection, NotImplementedError):
        raise
    except Exception as error:
        raise AdapterRejection(f"{type(error).__name__}: {error}") from error


@contextmanager
def as_backend_error(context: str) -> Iterator[None]:
    """Turn every exception of a vendor's code, SystemExit too, into a BackendError.

    Its message ends with the line of the vendor's code.
    """
    try:
        yield
    except (BackendError, KeyboardInterrupt):
        raise
    except BaseException as error:
        place = "".join(f" ({line})" for line in own_lines(error)[-1:])
        raise BackendError(f"{context}: {describe_error(error)}{place}") from None


def has_backend_parts(candidate: Any) -> TypeGuard[Backend]:
    """Whether `candidate` has a name, a version and a method `run`."""
    return isinstance(candidate, Backend) and callable(candidate.run)


def check_backend(candidate: Any, name: str) -> Backend:
    """Return `candidate` if it meets the contract.

    Raises:
        BackendError: a part is missing, or its name or version is not printable text.
    """
    context = f"'{name}' is not a backend"
    with as_backend_error(context):
        if not has_backend_parts(candidate):
            missing = [part for part in ("name", "version", "run") if not hasattr(candidate, part)]
            expected = "expected name, version and run(operator, inputs, attributes)"
            raise BackendError(f"{context}: it lacks {', '.join(missing) or 'run()'}; {expected}")
        for part in ("name", "version"):
            if not is_valid_name(text := getattr(candidate, part)):
                found = f"found {safe_repr(text)}; expected {NAME_FORMAT}"
                raise BackendError(f"{context}: {part}: {found}")
        return candidate


def is_valid_name(text: object) -> bool:
    """Whether a backend may have `text` as its name or version."""
    return isinstance(text, str) and text.isprintable() and 0 < len(text) <= MAX_NAME_LENGTH


def declared_reuse(backend: object) -> str | None:
    """Return the declaration of what `backend` keeps between calls, or None.

    Raises:
        BackendError: the declaration is not printable text.
    """
    with as_backend_error("reuse"):
        reuse = getattr(backend, "reuse", None)
    if reuse is None or (isinstance(reuse, str) and reuse.isprintable()):
        return reuse
    raise BackendError(f"reuse: found {safe_repr(reuse)}; expected printable text, or nothing")


def close_backend(backend: object) -> None:
    """Let a backend clean up; ignore its exceptions, since the verdicts are already known."""
    with suppress(BackendError), as_backend_error("close"):
        close = getattr(backend, "close", None)
        if callable(close):
            close()
