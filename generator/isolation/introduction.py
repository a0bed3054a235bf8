"""The handshake: how the backend of a worker or a driver introduces itself, checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from opcert.backends import NAME_FORMAT, is_valid_name
from opcert.errors import BackendError, safe_repr
from opcert.isolation.messages import PROTOCOL
from opcert.isolation.process import Process, WorkerFailure
from opcert.scope import declared_support

PARTS = ("protocol", "name", "version", "support", "reuse")


@dataclass(frozen=True)
class Introduction:
    """What a backend is called, and what it declares."""

    name: str
    version: str
    support: dict[str, Any] | None
    reuse: str | None


def handshake(
    process: Process, request: Mapping[str, Any], backend: str, seconds: float
) -> Introduction:
    """Have a process make `backend` in so many seconds, and return what that says of itself.

    Raises:
        BackendError: it cannot be made, or says what cannot be understood.
    """
    try:
        found = process.ask({"protocol": PROTOCOL, **request}, seconds)
    except WorkerFailure as error:
        log = process.log()
        text = f"backend '{backend}' cannot be made: {error.reason}"
        raise BackendError(f"{text}; it printed: {log}" if log else text) from None
    if "error" in found:
        why = f"{found['error']}"
        raise BackendError(why if backend in why else f"backend '{backend}' refuses: {why}")
    for part, wrong in mistakes(found):
        raise BackendError(f"backend '{backend}' introduces itself wrongly: {part}: {wrong}")
    foreign = process.foreign()
    if foreign:
        raise BackendError(f"backend '{backend}' wrote more than its introduction: {foreign}")
    return Introduction(found["name"], found["version"], found.get("support"), found.get("reuse"))


def mistakes(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each part of an introduction that is wrong, and how."""
    protocol = found.get("protocol")
    if type(protocol) is not int or protocol != PROTOCOL:
        yield "protocol", f"found {protocol!r}; expected {PROTOCOL}"
    for part in ("name", "version"):
        text = found.get(part)
        if not is_valid_name(text):
            yield part, f"found {safe_repr(text)}; expected {NAME_FORMAT}"
    support = found.get("support")
    if support is not None and not isinstance(support, dict):
        yield "support", f"found {support!r}; expected an object by operator, or null"
    else:
        try:
            declared_support(SimpleNamespace(support=support))
        except BackendError as error:
            yield "support", str(error).removeprefix("support: ")
    reuse = found.get("reuse")
    if reuse is not None and not (isinstance(reuse, str) and reuse.isprintable()):
        yield "reuse", f"found {reuse!r}; expected printable text, or null"
    for key in found.keys() - set(PARTS):
        yield key, f"is no part of an introduction; expected {', '.join(PARTS)}"
