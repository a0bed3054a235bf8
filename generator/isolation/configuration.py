"""Options of a backend -> its configurations, each of which gets a certificate."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import quote

from opcert.backends.lookup import ALL_VALUES, DRIVER_PREFIX, option_choices
from opcert.errors import BackendError
from opcert.isolation.process import WorkerFailure
from opcert.isolation.worker_process import ask_worker


@dataclass(frozen=True)
class Configuration:
    """The options of one run; `name`, a valid folder name, lists those that replaced an `all`."""

    name: str
    options: Mapping[str, Any]


def configurations(
    backend: str, options: Mapping[str, Any] | None = None, isolated: bool | None = None
) -> list[Configuration]:
    """Return the configurations that `options` select: one, unless an option is `all`.

    A separate process imports the backend, unless `isolated` is False. A backend that cannot be
    imported has one configuration, whose run reports the error.
    """
    requested = dict(options or {})
    # Only text is compared and sent: JSON cannot express every option.
    multiple = {
        key: value
        for key, value in requested.items()
        if isinstance(value, str) and value == ALL_VALUES
    }
    choices = _choices(backend, multiple, isolated) if multiple else {}
    selections = (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))
    return [
        Configuration(
            ",".join(f"{quote(key, '')}={quote(str(value), ' ')}" for key, value in chosen.items()),
            {**requested, **chosen},
        )
        for chosen in selections
    ]


def _choices(
    backend: str, options: Mapping[str, str], isolated: bool | None
) -> Mapping[str, list[Any]]:
    if backend.startswith(DRIVER_PREFIX):
        return {}
    try:
        if isolated is False or os.name != "posix":
            return option_choices(backend, options)
        path = [folder for folder in sys.path if folder]
        request = {"purpose": "choices", "path": path, "backend": backend, "options": options}
        choices: Mapping[str, list[Any]] = ask_worker(request).get("choices", {})
    except (BackendError, WorkerFailure):
        return {}
    return choices
