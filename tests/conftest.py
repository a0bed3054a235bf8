"""How tests run: those of a file in one process, for they share fixtures."""

import gc
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# What tests share is large, and Python would look through it for garbage again and again.
gc.set_threshold(50_000, 20, 100)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, in their order: by the number of tests the slowest would be last."""
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)
