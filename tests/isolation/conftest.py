"""A process that stays has little time to exit, and every process is gone after each test."""

import os
import time
from collections.abc import Iterator

import psutil
import pytest

from opcert.isolation import supervised
from tests.misbehaving import SLEEPS


@pytest.fixture(autouse=True)
def _no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(supervised, "EXIT_TIMEOUT", 0.5)
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before
    # A process that is not a child of this one disappears a moment after it was killed.
    deadline = time.monotonic() + 10
    while _started_by_a_backend() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _started_by_a_backend()


def _started_by_a_backend() -> list[list[str]]:
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [line for line in lines if line[2:] == [SLEEPS, str(os.getpid())]]
