"""The contract of a backend, and the lookup that finds one."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from opcert.arrays.element_types import Array
from opcert.errors import BackendError, describe_error, did_you_mean, safe_repr
from opcert.python_files import import_file

ENTRY_POINT_GROUP = "opcert.backends"
# How many characters a name or a version may have.
LONGEST_NAME = 1000
NAME_FORMAT = f"printable text, {LONGEST_NAME} characters at most"
# The value of an option that stands for each of its `configurations`.
ALL_VALUES = "all"
# What a program in any language is named by, in front of the command that starts it.
DRIVER_PREFIX = "driver:"
BUILT_IN_BACKENDS = {
    "reference": "opcert.backends.reference:Reference",
    "onnxruntime": "opcert.backends.onnxruntime:OnnxRuntime",
    "openvino": "opcert.backends.openvino:OpenVino",
    "torch": "opcert.backends.torch:Torch",
    "jax": "opcert.backends.jax:Jax",
    "array-api": "opcert.backends.array_api:ArrayApi",
}


@runtime_checkable
class Backend(Protocol):
    """An implementation under certification.

    It may also have `support`, a mapping of operators to what it supports of each (see
    `opcert.scope.support`), `reuse`, which says what it keeps from call to call, and
    `close()`. What makes one may have `configurations`, a mapping of options to the values that
    are certified where an option is `all`.
    """

    name: str
    version: str

    def run(
        self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
        """Compute `operator`; the outputs share no memory with the inputs, which stay as they are.

        Raises:
            NotImplementedError: the operator, a type or the like is not supported.
            Exception: the call breaks a rule of the operator. The runtime counts as the one that
                rejects it, but where the exception has an attribute `rejected_by` that is
                "adapter", as `AdapterRejection` has.
        """


class AdapterRejection(ValueError):
    """Raised where the adapter, and not the runtime, finds that a call breaks a rule.

    It says nothing about the runtime. Whoever runs a backend looks at `rejected_by` alone, so that
    a backend without an import from opcert can mark its own exceptions alike.
    """

    rejected_by = "adapter"


@contextmanager
def adapter_rejections() -> Iterator[None]:
    """Attribute to the adapter what its own code raises: a call of no runtime belongs in here."""
    try:
        yield
    except (AdapterRejection, NotImplementedError):
        raise
    except Exception as error:
        raise AdapterRejection(f"{type(error).__name__}: {error}") from error


def load(name: str, /, **options: Any) -> Backend:
    """Return the backend that `name` means, made with `options`.

    `name` is a built-in one, an entry point of group opcert.backends, package.module:attribute or
    path/file.py:attribute; the attribute is a class, a factory or an instance.

    Raises:
        BackendError: nothing is found there, it cannot be made, it is no backend, or `options` mean
            several configurations.
    """
    found = _find(name)
    for option, values in _choices(found, name, options).items():
        each = ", ".join(f"{option}={value}" for value in values)
        raise BackendError(f"{option}={ALL_VALUES} is several configurations; choose one: {each}")
    if isinstance(found, type) or (callable(found) and not _is_backend(found)):
        with as_backend_error(f"backend '{name}' cannot be made"):
            found = found(**options)
    elif options:
        raise BackendError(f"backend '{name}' is an instance and takes no options: {options}")
    return check_backend(found, name)


def with_reference_specs(
    name: str, options: Mapping[str, Any], specs: str | Path | None
) -> dict[str, Any]:
    """Return the options of a backend; the reference follows `specs` where they are given."""
    follows = name == "reference" and specs is not None
    return {"specs": str(specs), **options} if follows else dict(options)


def in_process_backend(backend: Any, isolated: bool | None) -> Backend:
    """Return a backend that is given as an object, and runs in this process.

    Raises:
        BackendError: it is to be isolated, or it is no backend.
    """
    if isolated:
        text = "an object runs in this process; expected what `--backend` takes, to isolate it"
        raise BackendError(text)
    return check_backend(backend, type(backend).__name__)


def option_choices(name: str, options: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of each of the `options` that is `all` and has a meaning so.

    Raises:
        BackendError: nothing is found at `name`, or its `configurations` are of another form.
    """
    return _choices(_find(name), name, options)


def _choices(found: Any, name: str, options: Mapping[str, Any]) -> dict[str, list[Any]]:
    asked = [
        option
        for option, value in options.items()
        if isinstance(value, str) and value == ALL_VALUES
    ]
    if not asked:
        return {}
    place = f"backend '{name}': configurations"
    wanted = f"{place}: expected a mapping of options to lists of values"
    with as_backend_error(place):
        declared = getattr(found, "configurations", {})
        if not isinstance(declared, Mapping):
            raise BackendError(f"{wanted}; found {type(declared).__name__}")
        chosen = {option: declared[option] for option in asked if option in declared}
        for option, values in chosen.items():
            if not (option.isprintable() and _are_distinct(values)):
                text = f"{wanted}, printable and each once; those of '{option}' are not so"
                raise BackendError(text)
        return {option: list(values) for option, values in chosen.items()}


def _are_distinct(values: Any) -> bool:
    """Whether `values` are plain ones, of which each could be given for an option."""
    listed = isinstance(values, list | tuple) and all(isinstance(v, str | int) for v in values)
    # No number of thousands of digits, of which Python makes no text.
    small = listed and all(isinstance(v, str) or abs(v) < 1 << 64 for v in values)
    texts = list(map(str, values)) if small else []
    return all(map(str.isprintable, texts)) and len({*texts, ALL_VALUES}) == len(texts) + 1 > 1


def setup_code(name: str, options: Mapping[str, Any]) -> str:
    """Return the lines of Python that make, as `backend`, what `name` means with `options`.

    They need opcert for what it has built in, and to speak to a driver.
    """
    if name.startswith(DRIVER_PREFIX) or name in BUILT_IN_BACKENDS:
        return load_code(name, options)
    points = entry_points(group=ENTRY_POINT_GROUP) if ":" not in name else []
    place, _, attribute = next((p.value for p in points if p.name == name), name).rpartition(":")
    found = _find(name)
    made = isinstance(found, type) or (callable(found) and not _is_backend(found))
    call = f"({', '.join(f'{key}={value!r}' for key, value in options.items())})" if made else ""
    if place.endswith(".py"):
        path = str(Path(place).resolve())
        return f"import runpy\n\nbackend = runpy.run_path({path!r})[{attribute!r}]{call}"
    return f"import {place}\n\nbackend = {place}.{attribute}{call}"


def load_code(name: str, options: Mapping[str, Any]) -> str:
    """Return the lines of Python by which opcert makes, as `backend`, what `name` means."""
    if name.startswith(DRIVER_PREFIX):
        given = f"{name!r}, {dict(options)!r}"
        return f"from opcert.isolation.supervised import start_backend\n\nbackend = start_backend({given})"
    given = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"from opcert.backends import load\n\nbackend = load({name!r}{given})"


def parse_backend_options(given: Sequence[str] | None) -> dict[str, str]:
    """Return the backend options of a command line.

    Raises:
        BackendError: one is not KEY=VALUE, or stands twice.
    """
    found: dict[str, str] = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise BackendError(f"--backend-option '{text}' has no value; expected KEY=VALUE")
        if key in found:
            stands = f"--backend-option '{key}' stands twice, with '{found[key]}' and '{value}'"
            raise BackendError(f"{stands}; expected one of them")
        found[key] = value
    return found


def check_backend(backend: Any, name: str) -> Backend:
    """Return `backend` if it has what the contract asks for.

    Raises:
        BackendError: it lacks a part, or its name or version is no text.
    """
    with as_backend_error(f"'{name}' is no backend"):
        if not _is_backend(backend):
            missing = [part for part in ("name", "version", "run") if not hasattr(backend, part)]
            raise BackendError(
                f"'{name}' is no backend: it lacks {', '.join(missing) or 'run()'}; expected name, "
                "version and run(operator, inputs, attributes)"
            )
        for part in (backend.name, backend.version):
            if not is_valid_name(part):
                text = f"found {safe_repr(part)}; expected {NAME_FORMAT}"
                raise BackendError(f"'{name}' is no backend: name or version: {text}")
    found: Backend = backend
    return found


def is_valid_name(text: object) -> bool:
    """Whether `text` is what a backend may give as its name or version."""
    return isinstance(text, str) and text.isprintable() and 0 < len(text) <= LONGEST_NAME


def declared_reuse(backend: object) -> str | None:
    """Return what `backend` says of what it keeps from call to call, if it says so.

    Raises:
        BackendError: it is no text.
    """
    with as_backend_error("reuse"):
        found = getattr(backend, "reuse", None)
    if found is None or (isinstance(found, str) and found.isprintable()):
        return found
    raise BackendError(f"reuse: found {safe_repr(found)}; expected printable text, or nothing")


def close_backend(backend: object) -> None:
    """Let a backend clean up; what it raises then changes no verdict."""
    try:
        close = getattr(backend, "close", None)
        if callable(close):
            close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: S110 -- the verdicts are in
        pass


@contextmanager
def as_backend_error(what: str) -> Iterator[None]:
    """Turn what foreign code raises, SystemExit too, into a BackendError."""
    try:
        yield
    except (BackendError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise BackendError(f"{what}: {describe_error(error)}") from None


def _is_backend(candidate: Any) -> bool:
    return isinstance(candidate, Backend) and callable(candidate.run)


def _find(name: str) -> Any:
    if name.startswith(DRIVER_PREFIX):
        text = "a driver is a process of its own; run it without --in-process, not on Windows"
        raise BackendError(f"backend '{name}': {text}")
    place, _, attribute = name.rpartition(":")
    if name in BUILT_IN_BACKENDS:
        place, _, attribute = BUILT_IN_BACKENDS[name].rpartition(":")
    elif not place:
        return _entry_point(name)
    with as_backend_error(f"backend '{name}': {place} cannot be imported"):
        if place.endswith(".py"):
            module = import_file(Path(place).resolve())
        elif name in BUILT_IN_BACKENDS:
            module = _with_its_extra(name, place)
        else:
            module = importlib.import_module(place)
    if not hasattr(module, attribute):
        near = did_you_mean(
            attribute, [n for n, each in vars(module).items() if hasattr(each, "run")]
        )
        raise BackendError(f"backend '{name}': {place} has no '{attribute}'{near}")
    return getattr(module, attribute)


def _with_its_extra(name: str, place: str) -> ModuleType:
    """Import a built-in backend; the packages that it needs are the extra of its name."""
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        raise BackendError(
            f"backend '{name}' needs the package {error.name}; pip install 'opcert[{name}]'"
        ) from None


def _entry_point(name: str) -> Any:
    known = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in known:
        near = did_you_mean(name, [*BUILT_IN_BACKENDS, *known])
        raise BackendError(
            f"unknown backend '{name}'{near}; a backend of your own is path/file.py:attribute "
            "or package.module:attribute"
        )
    with as_backend_error(f"backend '{name}' cannot be imported"):
        return known[name].load()
