"""Makes the README's pictures of a report: `python -m tests.browser FOLDER`.

The folder is one that `opcert certify --backend openvino --out FOLDER` wrote.
"""

import sys
from pathlib import Path

from opcert.report.files import REPORT_FILE
from tests.browser.chromium import launched, opened

PICTURES = Path(__file__).parents[2] / ".github"
SIZE = {"width": 1280, "height": 1000}


def main(folder: Path) -> None:
    """Write a picture of the first bug, and one of the list of all bugs."""
    report = (folder / REPORT_FILE).absolute()
    with (
        launched() as browser,
        opened(browser, report, viewport=SIZE, color_scheme="light") as page,
    ):
        page.locator("details.bug > summary").first.click()
        page.evaluate("document.querySelector('#bugs').scrollIntoView()")
        page.screenshot(path=PICTURES / "report.png")
        page.get_by_role("button", name="Collapse all").first.click()
        page.locator("section:has(#bugs)").screenshot(path=PICTURES / "bugs.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
