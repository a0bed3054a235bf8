"""Options of a backend -> the configurations that they mean, each of which has a certificate."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import quote

from opcert.backends import ALL_VALUES, DRIVER_PREFIX, option_choices
from opcert.errors import BackendError
from opcert.isolation.process import WorkerFailure
from opcert.isolation.worker_process import answered


@dataclass(frozen=True)
class Configuration:
    """Options, and those of them that stand for an `all`, as the name that a folder may have."""

    name: str
    options: Mapping[str, Any]


def configurations(
    backend: str, options: Mapping[str, Any] | None = None, isolated: bool | None = None
) -> list[Configuration]:
    """Return each configuration that `options` mean for what `load` finds: one, unless with `all`.

    A process of its own is asked, unless `isolated` is False. What cannot be found has one, so that
    its run says what is wrong.
    """
    given = dict(options or {})
    # The others may be what no message holds.
    asked = {
        key: value for key, value in given.items() if isinstance(value, str) and value == ALL_VALUES
    }
    several = _choices(backend, asked, isolated) if asked else {}
    found = [dict(zip(several, values, strict=True)) for values in product(*several.values())]
    return [Configuration(_name(each), {**given, **each}) for each in found]


def _choices(
    backend: str, asked: Mapping[str, str], isolated: bool | None
) -> Mapping[str, list[Any]]:
    if backend.startswith(DRIVER_PREFIX):
        return {}
    try:
        if isolated is False or os.name != "posix":
            return option_choices(backend, asked)
        path = [each for each in sys.path if each]
        request = {"ask": "choices", "path": path, "backend": backend, "options": asked}
        found: Mapping[str, list[Any]] = answered(request).get("choices", {})
    except (BackendError, WorkerFailure):
        return {}
    return found


def _name(chosen: Mapping[str, Any]) -> str:
    return ",".join(f"{quote(key, '')}={quote(str(each), ' ')}" for key, each in chosen.items())
