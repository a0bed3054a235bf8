"""A small suite for the commands of a module."""

from pathlib import Path

import pytest

from tests.small_suite import write


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("suites") / "suite")
