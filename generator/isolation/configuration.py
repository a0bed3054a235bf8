"""Options of a backend -> the configurations that they mean, each with a certificate."""

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
from opcert.isolation.worker_process import ask_worker


@dataclass(frozen=True)
class Configuration:
    """Options; `name`, a valid folder name, has those of them that replaced an `all`."""

    name: str
    options: Mapping[str, Any]


def configurations(
    backend: str, options: Mapping[str, Any] | None = None, isolated: bool | None = None
) -> list[Configuration]:
    """Return the configurations that `options` mean: one, unless an option is `all`.

    A process of its own imports the backend, unless `isolated` is False. A backend that cannot be
    imported has one configuration, so that its run reports the error.
    """
    given = dict(options or {})
    # Options that JSON cannot express never get sent.
    multiple = {
        key: value for key, value in given.items() if isinstance(value, str) and value == ALL_VALUES
    }
    choices = _choices(backend, multiple, isolated) if multiple else {}
    selections = (dict(zip(choices, values, strict=True)) for values in product(*choices.values()))
    return [
        Configuration(
            ",".join(f"{quote(key, '')}={quote(str(value), ' ')}" for key, value in chosen.items()),
            {**given, **chosen},
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
