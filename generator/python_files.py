"""Python files that a user names, imported as modules."""

import importlib.util
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType


@cache
def import_file(path: Path) -> ModuleType:
    """Import the Python file at `path`, once.

    Raises:
        OSError, SyntaxError, ImportError: it cannot be read or imported.
    """
    name = f"opcert_file_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module
