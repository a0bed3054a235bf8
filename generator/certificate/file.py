"""Certificate <-> certificate.json: where it goes, written whole, read strictly, its schema."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opcert.certificate.certificate import SCHEMA, Certificate
from opcert.errors import OpcertError, SuiteError
from opcert.suite import core_suite_folder
from opcert.untrusted_files import make_folder, read_limited
from opcert.yaml_files import describe_first_error

CERTIFICATE_FILE = "certificate.json"
# The most bytes that are read; that of the largest suite has a tenth of it.
MAX_CERTIFICATE_BYTES = 1 << 28
# What the rest of a file says already.
_FOLLOWS = {"schema", *Certificate.model_computed_fields}
_WANTED = "expected a certificate that `opcert certify --out` wrote"
_CHANGED = "it was changed or cut short; expected it as opcert wrote it"


def certificate_path(out: Path, suite: Path | None) -> Path:
    """Return where in the folder `out`, which is made, a certificate goes: never into the suite.

    Raises:
        OpcertError: `out` is in a suite's folder, or cannot be made.
    """
    try:
        target = out.resolve() / CERTIFICATE_FILE
        refuse_path_in_suite(target, suite)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{out}: cannot be made: {reason}") from None
    make_folder(target.parent)
    if target.is_dir():
        raise OpcertError(f"{target}: a folder; expected a file, or nothing")
    return target


def refuse_path_in_suite(target: Path, suite: Path | None) -> None:
    """Refuse to write `target`, a resolved path, into a suite.

    Raises:
        SuiteError: it is in the folder of opcert's own suite, or of `suite`.
    """
    for folder in {core_suite_folder().resolve(), (suite or core_suite_folder()).resolve()}:
        if target.is_relative_to(folder):
            raise SuiteError(f"{target}: is inside the suite {folder}; expected a place outside")


def read_certificate(path: str | Path) -> Certificate:
    """Return the certificate in the file at `path`.

    Raises:
        OpcertError: it is none, of another schema, of another form, or contradicts itself.
    """
    return parse_certificate(read_certificate_bytes(Path(path)), Path(path))


def parse_certificate(written: bytes, path: Path) -> Certificate:
    """Return the certificate that the file at `path` holds, as it was read.

    Raises:
        OpcertError: it is none, of another schema, of another form, or contradicts itself.
    """
    data = _data(path, _text(written, path))
    if not isinstance(data, dict) or "schema" not in data:
        raise OpcertError(f"{path}: no certificate; expected what `opcert certify --out` writes")
    if data["schema"] != SCHEMA or isinstance(data["schema"], bool):
        raise OpcertError(
            f"{path}: schema {json.dumps(data['schema'])[:60]}; this opcert reads schema {SCHEMA}: "
            "use the opcert that wrote it"
        )
    # What follows from the rest is computed anew, and then has to be what the file says.
    stated = {name: data[name] for name in data if name not in _FOLLOWS}
    try:
        found = Certificate.model_validate_json(json.dumps(stated))
    except ValidationError as error:
        raise OpcertError(f"{path}: {describe_first_error(error)}; {_CHANGED}") from None
    for place, says, follows in json_differences(data, found.content()):
        text = f"found {says}, but {follows} follows from the rest"
        raise OpcertError(f"{path}: {'.'.join(place)}: {text}; {_CHANGED}")
    return found


def read_certificate_bytes(path: Path) -> bytes:
    """Return what the file at `path` holds.

    Raises:
        OpcertError: it cannot be read, or holds more than any certificate.
    """
    try:
        return read_limited(path, MAX_CERTIFICATE_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{path}: {reason}; {_WANTED}") from None


def _text(written: bytes, path: Path) -> str:
    try:
        return written.decode()
    except UnicodeDecodeError as error:
        found = f"0x{written[error.start]:02x} at byte {error.start}"
        raise OpcertError(f"{path}: not UTF-8: found {found}; {_WANTED}") from None


def _data(path: Path, text: str) -> Any:
    twice: list[str] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice.extend(key for key, count in counts.items() if count > 1)
        return found

    try:
        data = json.loads(text, object_pairs_hook=made, parse_float=_finite, parse_constant=_finite)
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise OpcertError(f"{place}: not JSON: {error.msg}; {_CHANGED}") from None
    except (ValueError, RecursionError) as error:
        raise OpcertError(f"{path}: not JSON: {error}; {_CHANGED}") from None
    if twice:
        text = f"the key '{twice[0]}' stands twice in an object; expected one of them"
        raise OpcertError(f"{path}: {text}; {_CHANGED}")
    return data


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that JSON has")
    return number


def json_differences(
    one: Any, other: Any, place: Sequence[str] = ()
) -> Iterator[tuple[Sequence[str], str, str]]:
    """Yield where two pieces of plain data differ, and what is there in either."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from json_differences(one.get(key, ...), other.get(key, ...), (*place, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from json_differences(*pair, (*place, str(number)))
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield place, _shown(one), _shown(other)


def _shown(part: Any) -> str:
    return "nothing" if part is ... else json.dumps(part)[:60]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of certificate.json."""
    schema = Certificate.model_json_schema(mode="serialization")
    schema["properties"] = {"schema": {"const": SCHEMA}, **schema["properties"]}
    schema["required"] = ["schema", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
