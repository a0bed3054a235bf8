"""Certificate <-> certificate.json: its path, the strict reader, the JSON Schema."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opcert.certificate.certificate import SCHEMA, Certificate
from opcert.errors import OpcertError, SuiteError
from opcert.output_files import check_output_folder
from opcert.suite.suite import core_suite_folder
from opcert.untrusted_files import read_limited
from opcert.yaml_files.validation import describe_first_error

CERTIFICATE_FILE = "certificate.json"
# Ten times the size of the largest suite's certificate.
MAX_CERTIFICATE_BYTES = 1 << 28
# Keys that are recomputed from the others.
_COMPUTED = {"schema", *Certificate.model_computed_fields}
_EXPECTED = "expected a certificate that `opcert certify --out` wrote"
_CHANGED = "the file was changed or truncated; expected it as opcert wrote it"


def certificate_path(out: Path, suite: Path | None) -> Path:
    """Return the path of a certificate in the folder `out`, which need not exist.

    Raises:
        OpcertError: `out` is in a suite's folder, or cannot be made.
    """
    try:
        target = out.resolve() / CERTIFICATE_FILE
        refuse_path_in_suite(target, suite)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{out}: cannot be made: {reason}") from None
    check_output_folder(out)
    if target.is_dir():
        raise OpcertError(f"{target}: is a folder; expected a file or nothing")
    return target


def refuse_path_in_suite(target: Path, suite: Path | None) -> None:
    """Refuse a resolved path that is in the folder of the core suite or of `suite`.

    Raises:
        SuiteError: it is.
    """
    for folder in {core_suite_folder().resolve(), (suite or core_suite_folder()).resolve()}:
        if target.is_relative_to(folder):
            raise SuiteError(f"{target}: is inside the suite {folder}; expected a path outside")


def read_certificate(path: str | Path) -> Certificate:
    """Return the certificate in the file at `path`.

    Raises:
        OpcertError: the file cannot be read, or holds no valid certificate of this schema.
    """
    return parse_certificate(read_certificate_bytes(Path(path)), Path(path))


def parse_certificate(content: bytes, path: Path) -> Certificate:
    """Return the certificate in the `content` of the file at `path`.

    Raises:
        OpcertError: it is not a certificate, has another schema, is malformed, or contradicts
            itself.
    """
    data = _parse_json(content, path)
    if not isinstance(data, dict) or "schema" not in data:
        raise OpcertError(f"{path}: is not a certificate; {_EXPECTED}")
    if data["schema"] != SCHEMA or isinstance(data["schema"], bool):
        raise OpcertError(
            f"{path}: found schema {json.dumps(data['schema'])[:60]}; expected schema {SCHEMA}; "
            "use the version of opcert that wrote it"
        )
    # Computed keys are recomputed and must equal those in the file.
    fields = {name: data[name] for name in data if name not in _COMPUTED}
    try:
        certificate = Certificate.model_validate_json(json.dumps(fields))
    except ValidationError as error:
        raise OpcertError(f"{path}: {describe_first_error(error)}; {_CHANGED}") from None
    for place, found, computed in json_differences(data, certificate.to_dict()):
        text = f"found {found}, but {computed} follows from the rest"
        raise OpcertError(f"{path}: {'.'.join(place)}: {text}; {_CHANGED}")
    return certificate


def read_certificate_bytes(path: Path) -> bytes:
    """Return the content of the file at `path`.

    Raises:
        OpcertError: the file cannot be read, or is larger than any certificate.
    """
    try:
        return read_limited(path, MAX_CERTIFICATE_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OpcertError(f"{path}: {reason}; {_EXPECTED}") from None


def _parse_json(content: bytes, path: Path) -> Any:
    """Return JSON as plain data; refuse duplicate keys and values that JSON cannot express."""
    duplicates: list[str] = []

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        duplicates.extend(key for key, count in counts.items() if count > 1)
        return dict(pairs)

    def finite_number(text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(f"{text} is not a JSON number")
        return number

    if not content.strip():
        raise OpcertError(f"{path}: is empty; {_EXPECTED}")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        found = f"0x{content[error.start]:02x} at byte {error.start}"
        raise OpcertError(f"{path}: not UTF-8: found {found}; {_EXPECTED}") from None
    try:
        data = json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_float=finite_number,
            parse_constant=finite_number,
        )
        # Escaped surrogates are valid JSON, but no UTF-8 file can hold them.
        json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise OpcertError(f"{place}: not JSON: {error.msg}; {_CHANGED}") from None
    except (ValueError, RecursionError) as error:
        raise OpcertError(f"{path}: not JSON: {error}; {_CHANGED}") from None
    if duplicates:
        raise OpcertError(f"{path}: duplicate key '{duplicates[0]}'; {_CHANGED}")
    return data


def json_differences(
    first: Any, second: Any, place: Sequence[str] = ()
) -> Iterator[tuple[Sequence[str], str, str]]:
    """Yield the places at which two JSON values differ, each with both parts as text."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            pair = first.get(key, ...), second.get(key, ...)
            yield from json_differences(*pair, (*place, key))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, pair in enumerate(zip(first, second, strict=True)):
            yield from json_differences(*pair, (*place, str(number)))
    # `True == 1` in Python.
    elif first != second or isinstance(first, bool) != isinstance(second, bool):
        first_text, second_text = (
            "nothing" if part is ... else json.dumps(part)[:60] for part in (first, second)
        )
        yield place, first_text, second_text


def certificate_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of certificate.json."""
    schema = Certificate.model_json_schema(mode="serialization")
    schema["properties"] = {"schema": {"const": SCHEMA}, **schema["properties"]}
    schema["required"] = ["schema", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
