"""The report of 100,000 verdicts in a browser, against a page with the same bytes and no script."""

import json
import re
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

from opcert import certify
from opcert.report.files import REPORT_FILE, report_files
from opcert.suite.suite import Suite
from tests.benchmarks.measuring import Row, Work, measured
from tests.browser.chromium import executable, launched

VERDICTS = 100_000
# Done as soon as the browser is about to draw.
_FRAME = "() => new Promise(done => requestAnimationFrame(() => done()))"


def reports() -> Iterator[Row]:
    """Time until the page is there, and of a key press; nothing where there is no browser."""
    if executable() is None or find_spec("playwright") is None:
        return
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        full, plain = Path(folder) / "full.html", Path(folder) / "plain.html"
        text = _grown()
        full.write_text(text, encoding="utf-8")
        # As long as it, and without what its script does.
        inert = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
        plain.write_text(inert, encoding="utf-8")
        page = browser.new_page()
        times = measured(lambda: page.goto(full.as_uri()), lambda: page.goto(plain.as_uri()))
        yield Row("report of 100,000 verdicts opens", times[0], "it without its script", times[1])
        other = browser.new_page()
        other.goto(plain.as_uri())
        page.goto(full.as_uri())
        page.get_by_label("Text", exact=True).focus()
        times = measured(_pressing(page), _pressing(other))
        yield Row(
            "a key press in it until the list appears",
            times[0],
            "a key press without its script",
            times[1],
        )


def _pressing(page: Any) -> Work:
    """Return what presses a key, each time another, and waits until the page is drawn."""
    keys = cycle(("f", "Backspace"))

    def press() -> None:
        page.keyboard.press(next(keys))
        page.evaluate(_FRAME)

    return press


def _grown() -> str:
    """Return the report of the core suite with its list of cases grown to 100,000."""
    suite = Suite()
    text = report_files(certify("reference", suite), suite)[REPORT_FILE].decode()
    detail = "output 0 differs from element [1, 2] on; expected 0x00000001, got 0x00000002"
    for name in ("verdicts", "details"):
        before, opening, rest = text.partition(f'id="{name}">')
        found, closing, after = rest.partition("</script>")
        data = json.loads(found)
        cases = data["cases"]
        rows = (cases[i % len(cases)] for i in range(VERDICTS))
        if name == "verdicts":
            rows = ([f"{row[0]}-{i}", *row[1:-1], detail] for i, row in enumerate(rows))
        data["cases"] = [*rows]
        grown = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
        text = before + opening + grown + closing + after
    return text
