"""How tests run: those of a file in one process, for they share fixtures."""

import gc
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from opcert.specification import files, find_spec_files
from opcert.suite import OperatorSuite, Suite, core_suite_folder
from opcert.suite.format import OperatorEntry

# What tests share is large, and Python would look through it for garbage again and again.
gc.set_threshold(50_000, 20, 100)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files, in their order: by the number of tests the slowest would be last."""
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _what_comes_with_opcert_is_read_once() -> None:
    """Keep the specs and the suite that come with opcert, which every command reads anew."""
    read_spec = files.read_spec
    shipped = frozenset(find_spec_files(None))
    kept = cache(read_spec)
    files.read_spec = lambda path: (kept if path in shipped else read_spec)(path)

    operator_of = Suite._operator
    operators: dict[tuple[str, str, Path | None], OperatorSuite] = {}

    def operator(suite: Suite, name: str, entry: OperatorEntry) -> OperatorSuite:
        if suite.folder != core_suite_folder():
            return operator_of(suite, name, entry)
        # The digest of the manifest is that of all the files, which are proved before.
        key = suite.digest, name, suite._specs
        if key not in operators:
            operators[key] = operator_of(suite, name, entry)
        return operators[key]

    Suite._operator = operator  # type: ignore[method-assign, assignment]
