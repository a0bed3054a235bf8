"""Finds a backend by name, and the files of its code."""

import ast
import importlib
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from importlib.machinery import PathFinder
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from opcert.backends.contract import Backend, as_backend_error, check_backend, has_backend_parts
from opcert.errors import BackendError, did_you_mean, safe_repr
from opcert.system import import_file

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "opcert.backends"
# As the value of an option, this selects all of its `configurations`.
ALL_VALUES = "all"
# Precedes the command that starts a driver.
DRIVER_PREFIX = "driver:"
BUILT_IN_BACKENDS = {
    "reference": "opcert.backends.reference:Reference",
    "onnxruntime": "opcert.backends.onnxruntime:OnnxRuntime",
    "openvino": "opcert.backends.openvino:OpenVino",
    "torch": "opcert.backends.torch:Torch",
    "jax": "opcert.backends.jax:Jax",
    "array-api": "opcert.backends.array_api:ArrayApi",
}


def load(name: str, /, **options: Any) -> Backend:
    """Return the backend `name`, constructed with `options`.

    `name` is a built-in backend, an entry point of the group opcert.backends,
    package.module:attribute or path/file.py:attribute; the attribute is a class, a factory or an
    instance.

    Raises:
        BackendError: the name is unknown, the construction fails, the result is not a backend, or
            an option selects several configurations.
    """
    for option, values in option_choices(name, options).items():
        listed = ", ".join(f"{option}={value}" for value in values)
        text = f"{option}={ALL_VALUES} means several configurations; choose one: {listed}"
        raise BackendError(text)
    target = _find(name)
    if _is_constructor(target):
        context = as_backend_error(f"backend '{name}' cannot be constructed")
        with context, _naming_the_extra(name):
            target = target(**options)
    elif options:
        raise BackendError(f"backend '{name}' is an instance and takes no options: {options}")
    return check_backend(target, name)


def _is_constructor(target: Any) -> bool:
    return isinstance(target, type) or (callable(target) and not has_backend_parts(target))


def _find(name: str) -> Any:
    """Return the class, factory or instance that `name` means."""
    if name.startswith(DRIVER_PREFIX):
        raise BackendError(
            f"backend '{name}': a driver runs in a process of its own; omit --in-process, and use "
            "Linux or macOS"
        )
    module_name, _, attribute = BUILT_IN_BACKENDS.get(name, name).rpartition(":")
    if not module_name:
        return _find_entry_point(name)
    file = Path(module_name).absolute()
    is_file = file.suffix == ".py" or (file.suffix != "" and file.is_file())
    _check_parts(name, attribute, file if is_file else None)
    path = file.resolve() if is_file else None
    with as_backend_error(f"backend '{name}': {module_name} cannot be imported"):
        # What a backend imports may be next to its file. Last, so that nothing installed is hidden.
        folder = str(Path.cwd() if path is None else path.parent)
        if folder not in sys.path:
            sys.path.append(folder)
        module = _import_module(name, module_name) if path is None else import_file(path)
    if not hasattr(module, attribute):
        candidates = [key for key, value in vars(module).items() if hasattr(value, "run")]
        # A file in the current folder may have the name of an installed module.
        expected = "; expected a class, a factory or an object with run()"
        hint = _suggestion(name) or did_you_mean(attribute, candidates) or expected
        raise BackendError(f"backend '{name}': {module_name} has no '{attribute}'{hint}")
    return getattr(module, attribute)


def _check_parts(name: str, attribute: str, file: Path | None) -> None:
    """Check that `name` has an attribute, and that its file exists, if it names one.

    Raises:
        BackendError: it has none, or the file does not exist.
    """
    if not attribute:
        hint = _suggestion(name) or "; expected path/file.py:attribute or package.module:attribute"
        raise BackendError(f"backend '{name}' names no attribute{hint}")
    if file is not None and not (file.is_file() and file.suffix == ".py"):
        found = "is another file" if file.is_file() else "does not exist"
        found = "is a folder" if file.is_dir() else found
        raise BackendError(f"backend '{name}': {file} {found}; expected a Python file")


@contextmanager
def _naming_the_extra(name: str) -> Iterator[None]:
    """Say how to install what a built-in backend needs: the extra of its name.

    Some import their runtime only when they are constructed, so that others can read what they
    declare.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if name not in BUILT_IN_BACKENDS or error.name is None:
            raise
        package = error.name.partition(".")[0].replace("_", "-")
        text = f"backend '{name}' needs the package {package}; pip install 'opcert[{name}]'"
        raise BackendError(text) from None


def _import_module(name: str, module_name: str) -> ModuleType:
    try:
        with _naming_the_extra(name):
            return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # The module itself may import one that is missing.
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        hint = _suggestion(name) or "; a backend in a file is path/file.py:attribute"
        raise BackendError(f"backend '{name}': there is no module {error.name}{hint}") from None


def _suggestion(name: str) -> str:
    """Return a hint to a file that `name` may mean, with a class in it that looks like a backend.

    The file is only read: importing it could take long or fail.
    """
    module_name, _, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    parts = module_name.removesuffix(".py").replace(".", "/")
    for stem, wanted in ((parts, attribute), (str(Path(parts).parent), Path(parts).name)):
        try:
            tree = ast.parse(Path(f"{stem}.py").read_bytes())
        except (OSError, ValueError, SyntaxError):
            continue
        classes = [
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef)
            and any(getattr(part, "name", "") == "run" for part in node.body)
        ]
        names = [getattr(node, "name", "") for node in tree.body]
        chosen = wanted if wanted and wanted in names else next(iter(classes), None)
        if chosen is not None and f"{stem}.py:{chosen}" != name:
            return f"; did you mean '{stem}.py:{chosen}'?"
    return f"; did you mean 'driver:{name}'?" if Path(name).is_file() else ""


def registered_backends() -> "Mapping[str, EntryPoint]":
    """Return the entry points of vendors' backends by name."""
    # Most workers need no entry point, and this import takes a tenth of their start.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _find_entry_point(name: str) -> Any:
    points = registered_backends()
    if name not in points:
        known = did_you_mean(name, [*BUILT_IN_BACKENDS, *points])
        own = "a backend of your own is path/file.py:attribute or package.module:attribute"
        raise BackendError(f"unknown backend '{name}'{_suggestion(name) or f'{known}; {own}'}")
    with as_backend_error(f"backend '{name}' cannot be imported"):
        return points[name].load()


# -- options


def multiple_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return those of the options that are `all`."""
    # Other values, such as arrays, may not compare with text.
    return {k: v for k, v in options.items() if isinstance(v, str) and v == ALL_VALUES}


def option_choices(name: str, options: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return, for each of the `options` that is `all`, the values that the backend declares.

    Raises:
        BackendError: the name is unknown, or its `configurations` are malformed.
    """
    multiple = multiple_options(options)
    if not multiple:
        return {}
    target, context = _find(name), f"backend '{name}': configurations"
    with as_backend_error(context):
        declared = getattr(target, "configurations", {})
        if not isinstance(declared, Mapping):
            raise BackendError(
                f"{context}: expected a mapping of options to lists of values; found "
                f"{type(declared).__name__}"
            )
        choices = {option: declared[option] for option in multiple if option in declared}
        for option, values in choices.items():
            if not (option.isprintable() and _are_distinct_values(values)):
                raise BackendError(
                    f"{context}: expected a list of distinct, printable values for option "
                    f"{option!r}; found {safe_repr(values)}"
                )
        return {option: list(values) for option, values in choices.items()}


def _are_distinct_values(values: Any) -> bool:
    if not isinstance(values, list | tuple) or not values:
        return False
    # Python refuses to write integers with thousands of digits.
    if not all(isinstance(v, str) or (isinstance(v, int) and abs(v) < 1 << 64) for v in values):
        return False
    texts = [str(value) for value in values]
    is_distinct = len({*texts, ALL_VALUES}) == len(texts) + 1
    return is_distinct and all(text.isprintable() for text in texts)


def parse_backend_options(arguments: Sequence[str] | None) -> dict[str, str]:
    """Return the `--backend-option KEY=VALUE` arguments of a command line as options.

    Raises:
        BackendError: an argument is malformed, or a key occurs twice.
    """
    options: dict[str, str] = {}
    for argument in arguments or ():
        key, equals, value = argument.partition("=")
        if not (key and equals):
            raise BackendError(f"invalid --backend-option '{argument}'; expected KEY=VALUE")
        if key in options:
            raise BackendError(
                f"duplicate --backend-option '{key}': found '{options[key]}' and '{value}'; "
                "expected one value"
            )
        options[key] = value
    return options


# -- Python code for printed programs


def setup_code(name: str, options: Mapping[str, Any]) -> str:
    """Return Python code that defines `backend` as `name` with `options`.

    It imports opcert only for built-in backends and drivers.
    """
    if name.startswith(DRIVER_PREFIX) or name in BUILT_IN_BACKENDS:
        return load_code(name, options)
    point = registered_backends().get(name) if ":" not in name else None
    target_name = name if point is None else point.value
    module_name, _, attribute = target_name.rpartition(":")
    call = f"({_keywords(options)})" if _is_constructor(_find(name)) else ""
    if module_name.endswith(".py"):
        path = Path(module_name).resolve()
        # The file may import others of its folder.
        start = f"import runpy\nimport sys\n\nsys.path.insert(0, {str(path.parent)!r})"
        return f"{start}\nbackend = runpy.run_path({str(path)!r})[{attribute!r}]{call}"
    return f"import {module_name}\n\nbackend = {module_name}.{attribute}{call}"


def load_code(name: str, options: Mapping[str, Any]) -> str:
    """Return Python code that defines `backend` as `name` with `options`, by opcert."""
    if name.startswith(DRIVER_PREFIX):
        return (
            "from opcert.isolation.supervised import start_backend\n\n"
            f"backend = start_backend({name!r}, {dict(options)!r})"
        )
    arguments = ", ".join(filter(None, [repr(name), _keywords(options)]))
    return f"from opcert.backends.lookup import load\n\nbackend = load({arguments})"


def _keywords(options: Mapping[str, Any]) -> str:
    """Return options as arguments of a call; not every key is a name in Python."""
    if all(key.isidentifier() and not iskeyword(key) for key in options):
        return ", ".join(f"{key}={value!r}" for key, value in options.items())
    return f"**{dict(options)!r}"


class SourceFiles:
    """The files of a backend: that of its class, or those that the command of a driver names.

    `digests` are their SHA-256 at first, and `changed` those that had another one later, both by
    the name of the file, with the folders that distinguish files of equal names. A backend that
    comes with opcert has no files: opcert has a version.
    """

    def __init__(self, backend: object) -> None:
        """Read the files of the backend with this name; a missing file has no digest.

        A backend that is given as an object has none.
        """
        self._paths = _shortest_names(_files_of(backend) if isinstance(backend, str) else [])
        self.digests = self._read()
        self.changed: set[str] = set()

    def check(self) -> set[str]:
        """Compare the files with their digests; return those that have differed at any time."""
        current = self._read()
        self.changed |= {n for n, digest in self.digests.items() if current.get(n) != digest}
        return self.changed

    def _read(self) -> dict[str, str]:
        digests = {}
        for name, path in self._paths.items():
            with suppress(OSError), path.open("rb") as file:
                digests[name] = file_digest(file, "sha256").hexdigest()
        return digests


def _shortest_names(paths: Sequence[Path]) -> dict[str, Path]:
    """Return files by the shortest ends of their paths that distinguish them."""
    names = {}
    for path in paths:
        length = 1
        while any(o != path and o.parts[-length:] == path.parts[-length:] for o in paths):
            length += 1
        names["/".join(path.parts[-length:])] = path
    return names


def _files_of(backend: str) -> list[Path]:
    """Return the files of a backend. Nothing is imported, since that is left to its process."""
    if backend.startswith(DRIVER_PREFIX):
        try:
            words = shlex.split(backend.removeprefix(DRIVER_PREFIX))
        except ValueError:
            return []
        program = [shutil.which(word) or word for word in words[:1]]
        files = [Path(word).absolute() for word in (*program, *words[1:])]
        return [file for file in files if file.is_file()]
    if backend in BUILT_IN_BACKENDS:
        return []
    if ":" not in backend:
        point = registered_backends().get(backend)
        backend = "" if point is None else point.value
    module, _, _ = backend.rpartition(":")
    return [Path(module).absolute()] if module.endswith(".py") else _files_of_module(module)


def _files_of_module(module: str) -> list[Path]:
    folders = [*sys.path, str(Path.cwd())]
    spec = None
    for name in filter(None, module.split(".")):
        spec = PathFinder.find_spec(name, folders)
        if spec is None:
            break
        folders = list(spec.submodule_search_locations or ())
    return [Path(spec.origin)] if spec is not None and spec.origin else []
