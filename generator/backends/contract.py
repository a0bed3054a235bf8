"""The contract of a backend: its members, how it rejects, and what it declares to support."""

import linecache
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, INTEGERS, Array, bit_width
from opcert.errors import BackendError, describe_error, safe_repr

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

    def run(
        self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> Sequence[Array]:
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


def has_backend_parts(candidate: Any) -> bool:
    """Whether `candidate` has a name, a version and a method `run`."""
    return isinstance(candidate, Backend) and callable(candidate.run)


def check_backend(candidate: Any, name: str) -> Backend:
    """Return `candidate` if it meets the contract.

    Raises:
        BackendError: a part is missing, or its name or version is not printable text.
    """
    with as_backend_error(f"'{name}' is not a backend"):
        if not has_backend_parts(candidate):
            missing = [part for part in ("name", "version", "run") if not hasattr(candidate, part)]
            raise BackendError(
                f"'{name}' is not a backend: it lacks {', '.join(missing) or 'run()'}; expected "
                "name, version and run(operator, inputs, attributes)"
            )
        for part in ("name", "version"):
            text = getattr(candidate, part)
            if not is_valid_name(text):
                raise BackendError(
                    f"'{name}' is not a backend: {part}: found {safe_repr(text)}; expected "
                    f"{NAME_FORMAT}"
                )
    backend: Backend = candidate
    return backend


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
    try:
        close = getattr(backend, "close", None)
        if callable(close):
            close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: S110
        pass


DML_SPLIT = "directml/DML_OPERATOR_SPLIT"
_DML_PREFIXES = {"f": "FLOAT", "i": "INT", "u": "UINT"}
# DirectML's name of each element type that it has.
DML_TYPES = {
    name: f"{_DML_PREFIXES[name[0]]}{bit_width(name)}" for name in ("f64", "f32", "f16", *INTEGERS)
}


@dataclass(frozen=True)
class PlainCall:
    """A valid call, whose data inputs have `shape` and the probed type.

    A name in `data` that ends in `*` is a variadic input, which gets one array. A fill is a scalar
    of the same type. `index_types` are the types that the document allows for indices.
    """

    indices: Mapping[str, list[int] | int]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[str, ...] = ("data",)
    fills: tuple[str, ...] = ()
    shape: tuple[int, ...] = (2,)
    index_types: tuple[str, ...] = INTEGERS


PLAIN_CALLS: Mapping[str, PlainCall] = {
    "openvino/VariadicSplit-1": PlainCall({"axis": 0, "split_lengths": [2]}),
    "openvino/Slice-8": PlainCall({"start": [0], "stop": [1], "step": [1], "axes": [0]}),
    "openvino/Broadcast-1": PlainCall({"target_shape": [2]}),
    "openvino/Gather-8": PlainCall({"indices": [0], "axis": 0}),
    "openvino/Split-1": PlainCall({"axis": 0}, {"num_splits": 1}),
    "openvino/Concat-1": PlainCall({}, {"axis": 0}, data=("inputs*",)),
    "openvino/Tile-1": PlainCall({"repeats": [1]}),
    "openvino/Pad-1": PlainCall(
        {"pads_begin": [0], "pads_end": [0]}, {"pad_mode": "constant"}, fills=("pad_value",)
    ),
    "openvino/Transpose-1": PlainCall({"input_order": [0]}, data=("arg",)),
    "openvino/Reshape-1": PlainCall({"shape": [2]}, {"special_zero": False}),
    "openvino/GatherElements-6": PlainCall(
        {"indices": [0]}, {"axis": 0}, index_types=("i32", "i64")
    ),
    "openvino/ScatterElementsUpdate-3": PlainCall(
        {"indices": [0, 1], "axis": 0}, data=("data", "updates")
    ),
    "openvino/StridedSlice-1": PlainCall(
        {"begin": [0], "end": [2], "stride": [1]}, {"begin_mask": [0], "end_mask": [0]}
    ),
    "openvino/ReverseSequence-1": PlainCall(
        {"seq_lengths": [1]},
        {"batch_axis": 0, "seq_axis": 1},
        shape=(1, 2),
        index_types=tuple(name for name in ELEMENT_TYPES if name != "boolean"),
    ),
}

# How the adapters with probed types implement each operator. `opcert backends` reads this without
# importing the runtimes.
DECLARED_SUPPORT: Mapping[str, Mapping[str, str]] = {
    "openvino": dict.fromkeys(PLAIN_CALLS, "native"),
    "onnxruntime": {
        "openvino/VariadicSplit-1": "composed: Split; the host replaces a length of -1",
        "openvino/Slice-8": "native",
        "openvino/Broadcast-1": "composed: Expand; the host rejects calls that stretch the target",
        "openvino/Gather-8": "composed: Gather, without batches and indices out of range",
        "openvino/Split-1": "composed: Split; the host rejects parts that differ in size",
        "openvino/Concat-1": "native",
        "openvino/Tile-1": "composed: Tile; the host aligns ranks",
        "openvino/Pad-1": "composed: Pad, without mode symmetric; the host rejects negative pads",
        "openvino/Transpose-1": "composed: Transpose, whose permutation is an attribute",
        "openvino/Reshape-1": "native",
        "openvino/GatherElements-6": "composed: GatherElements; the host compares extents",
        "openvino/ScatterElementsUpdate-3": "composed: ScatterElements; the host rejects negative "
        "indices, and more than data has",
        DML_SPLIT: "composed: Split, in a model of the described shapes",
    },
}

Attempt: TypeAlias = Callable[[str, dict[str, Any], dict[str, Any]], object]


def probe_types(
    operator: str, attempt: Attempt, same_types: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Return the types of a declaration of support: those for which `attempt` raises nothing.

    The inputs of each group in `same_types` must share one type; other inputs are probed alone. A
    type that the runtime accepts is not necessarily computed correctly: that is for the cases.
    """

    def accepted(name: str, index_types: Mapping[str, str]) -> bool:
        try:
            attempt(operator, *_plain_call(operator, name, index_types))
        except Exception:
            return False
        return True

    if operator == DML_SPLIT:
        return {"types": [name for name in DML_TYPES if accepted(name, {})]}
    support: dict[str, Any] = {"types": [name for name in ELEMENT_TYPES if accepted(name, {})]}
    grouped = {name for group in same_types for name in group}
    plain = PLAIN_CALLS[operator]
    groups = [*same_types, *([name] for name in plain.indices if name not in grouped)]
    types_by_input: dict[str, list[str]] = {}
    for group in groups:
        types = [name for name in plain.index_types if accepted("f32", dict.fromkeys(group, name))]
        types_by_input |= dict.fromkeys(group, types)
    distinct = {tuple(types) for types in types_by_input.values()}
    # Where other inputs than the first have the type of data, each input has types of its own.
    if len(distinct) == 1 and len(plain.data) + len(plain.fills) == 1:
        support["index_types"] = list(*distinct)
    else:
        narrower = {
            n: types for n, types in types_by_input.items() if types != [*plain.index_types]
        }
        support |= {"input_types": narrower} if narrower else {}
    if same_types:
        support["same_types"] = [list(group) for group in same_types]
    return support


def _plain_call(
    operator: str, name: str, index_types: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a valid call with data of type `name`; index inputs are i64 by default."""
    if operator == DML_SPLIT:
        descriptions = [{"Sizes": [2], "DataType": DML_TYPES[name]}]
        attributes = {"OutputCount": 1, "OutputTensors": descriptions, "Axis": 0}
        return {"InputTensor": np.zeros(2, ELEMENT_TYPES[name])}, attributes
    plain = PLAIN_CALLS[operator]
    inputs: dict[str, Any] = {}
    for key in plain.data:
        array = np.zeros(plain.shape, ELEMENT_TYPES[name])
        inputs[key.removesuffix("*")] = [array] if key.endswith("*") else array
    inputs |= {
        key: np.array(value, ELEMENT_TYPES[index_types.get(key, "i64")])
        for key, value in plain.indices.items()
    }
    inputs |= {key: np.zeros((), ELEMENT_TYPES[name]) for key in plain.fills}
    return inputs, dict(plain.attributes)
