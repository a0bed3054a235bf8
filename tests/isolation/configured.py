"""Backends with configurations; a process with one of them imports little and starts quickly."""

from collections.abc import Mapping
from typing import Any, ClassVar

from opcert.reference.dml_split import dml_split


class Several:
    """Has two options with configurations, and one of which `all` is a plain value."""

    name = "several"
    configurations: ClassVar = {"device": ["CPU", "GPU.0", "a/b"], "level": (0, 1)}

    def __init__(self, device: str = "CPU", level: Any = 0, mode: str = "some") -> None:
        if device == "a/b":
            raise ValueError("no such device")
        self.accepts = device == "GPU.0"
        self.version = f"1 {device} {level} {mode}"

    def run(self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
        return list(inputs.values()) if self.accepts else dml_split(**inputs, **attributes)


def made(device: str = "CPU") -> Several:
    return Several(device)


made.configurations = {"device": ("CPU", "GPU.0")}  # type: ignore[attr-defined]


class NoMapping(Several):
    configurations: ClassVar = ["device"]  # type: ignore[assignment]


class NoList(Several):
    configurations: ClassVar = {"device": "CPU"}


class NoValues(Several):
    configurations: ClassVar = {"device": []}


class Alike(Several):
    configurations: ClassVar = {"device": [0, "0"]}


class AllAgain(Several):
    configurations: ClassVar = {"device": ["all"]}
