"""The lines of a backend's own source that an exception passed through."""

import linecache
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType

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
    # The exception's class may define an attribute of this name.
    places = list(_places(BaseException.__dict__["__traceback__"].__get__(error)))
    first = next((file for file, _, _ in places if not _is_caller(file)), None)
    if first is None or _is_of_opcert(first):
        return []
    lines = []
    for file, number, function in places:
        name = _name_in_source(file, first)
        if name is not None:
            code = linecache.getline(file, number).strip()
            lines.append(f"at {name}:{number}, in {function}: {code}"[:_MAX_LENGTH])
    return lines[-_MAX_LINES:]


def _places(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and function of each frame, the outermost first.

    The module `traceback` would look for changes of each file, for each of thousands of rejections.
    """
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


@cache
def _is_of_opcert(name: str) -> bool:
    return Path(name).is_relative_to(_OPCERT)


@cache
def _is_caller(name: str) -> bool:
    """Whether a file is of opcert, but no backend, or of Python, which calls what is imported."""
    file = Path(name)
    if _is_of_opcert(name):
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
