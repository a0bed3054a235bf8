"""The first exchange with a process: it starts a backend, and introduces it."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from opcert.backends.contract import NAME_FORMAT, is_valid_name
from opcert.errors import BackendError, safe_repr
from opcert.isolation.messages import PROTOCOL
from opcert.isolation.process import Process, WorkerFailure
from opcert.suite.support import declared_support

_INTRODUCTION_KEYS = ("protocol", "name", "version", "support", "reuse")


def perform_handshake(
    process: Process, request: Mapping[str, Any], backend: str, seconds: float
) -> Mapping[str, Any]:
    """Have a process start `backend` within `seconds`; return how the backend introduces itself.

    The introduction has the `name` and the `version`, and may have `support` and `reuse`.

    Raises:
        BackendError: the backend cannot be started, or its introduction is malformed.
    """
    try:
        answer = process.exchange({"protocol": PROTOCOL, **request}, seconds)
    except WorkerFailure as failure:
        log = process.take_log()
        text = f"backend '{backend}' cannot be started: {failure.reason}"
        raise BackendError(f"{text}; it printed: {log}" if log else text) from None
    if "error" in answer:
        reason = f"{answer['error']}"
        prefix = "" if backend in reason else f"backend '{backend}' refuses to run: "
        raise BackendError(f"{prefix}{reason}")
    for key, mistake in _introduction_mistakes(answer):
        raise BackendError(f"backend '{backend}': invalid handshake: {key}: {mistake}")
    if found := process.unexpected_output():
        raise BackendError(f"backend '{backend}': unexpected output after the handshake: {found}")
    return answer


def _introduction_mistakes(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each wrong key of an introduction with its mistake."""
    protocol = answer.get("protocol")
    if type(protocol) is not int or protocol != PROTOCOL:
        yield "protocol", f"found {protocol!r}; expected {PROTOCOL}"
    for key in ("name", "version"):
        if not is_valid_name(text := answer.get(key)):
            yield key, f"found {safe_repr(text)}; expected {NAME_FORMAT}"
    support = answer.get("support")
    if support is not None and not isinstance(support, dict):
        yield "support", f"found {support!r}; expected an object by operator, or null"
    else:
        try:
            declared_support(SimpleNamespace(support=support))
        except BackendError as error:
            yield "support", str(error).removeprefix("support: ")
    reuse = answer.get("reuse")
    if reuse is not None and not (isinstance(reuse, str) and reuse.isprintable()):
        yield "reuse", f"found {reuse!r}; expected printable text, or null"
    for key in answer.keys() - set(_INTRODUCTION_KEYS):
        yield key, f"unknown key; expected {', '.join(_INTRODUCTION_KEYS)}"
