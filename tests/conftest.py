"""How tests are spread over processes: those of a file stay together, for they share fixtures."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, in their order: by the number of tests the slowest would be last."""
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)
