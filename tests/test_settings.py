"""The settings of a run: what is out of range, or contradicts another, is refused in Python too."""

from typing import Any

import pytest

from opcert.errors import OpcertError
from opcert.settings import OPTIONS, RunSettings


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.expected])
def test_a_number_out_of_its_range_is_refused(name: str) -> None:
    option = OPTIONS[name]
    for value in (option.minimum - 1, option.maximum + 1, float("nan"), "many"):
        settings: dict[str, Any] = {name: value}
        with pytest.raises(
            OpcertError, match=f"{name}: found '{value}'; expected {option.expected}"
        ):
            RunSettings(**settings)


@pytest.mark.parametrize("value", [1.5, True])
def test_a_number_of_processes_is_whole(value: Any) -> None:
    with pytest.raises(OpcertError, match=f"jobs: found '{value}'"):
        RunSettings(jobs=value)


@pytest.mark.parametrize("limit", [{"timeout": 5.0}, {"memory": 64}])
def test_a_backend_in_this_process_has_no_limits(limit: dict[str, Any]) -> None:
    with pytest.raises(OpcertError, match="a backend in this process has no limit of"):
        RunSettings(isolated=False, **limit)
