"""A Chromium that opens pages from disk, and fails on console messages and further requests."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LAUNCH = ["--no-sandbox", "--disable-dev-shm-usage"]


def executable() -> str | None:
    """Return the path of an installed Chromium, or None."""
    paths = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return os.environ.get("OPCERT_CHROMIUM") or next(filter(None, paths), None)


@contextmanager
def launched() -> Iterator[Any]:
    """Start a headless Chromium, or skip the test with the reason."""
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


def expect(locator: Any) -> Any:
    """Return Playwright's assertions about a locator. They wait until they hold, 30 s at most."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=30_000)
    return sync_api.expect(locator)


@contextmanager
def opened(browser: Any, path: Path, fragment: str = "", **options: Any) -> Iterator[Any]:
    """Open a page from disk; a message on its console or a request for another file is an error."""
    page = browser.new_page(**options)
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri() + fragment)
    yield page
    page.close()
    assert not messages
    assert {url.partition("#")[0] for url in requests} == {path.as_uri()}
