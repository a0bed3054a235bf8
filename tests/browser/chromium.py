"""A Chromium that opens pages from disk, and tells what they complain of and ask for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LAUNCH = ["--no-sandbox", "--disable-dev-shm-usage"]


def executable() -> str | None:
    """Return the path of the machine's own Chromium, if there is one."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return os.environ.get("OPCERT_CHROMIUM") or next(filter(None, found), None)


@contextmanager
def launched() -> Iterator[Any]:
    """Start a headless Chromium, or skip, and say why."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'opcert[browser]'"
    )
    path = executable()
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or set OPCERT_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, path: Path, fragment: str = "", **how: Any) -> Iterator[Any]:
    """Open a page from disk; an error on its console, or a request for more, is an error here."""
    page = browser.new_page(**how)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri() + fragment)
    yield page
    page.close()
    assert not said
    assert {each.partition("#")[0] for each in asked} == {path.as_uri()}
