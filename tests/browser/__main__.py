"""Makes the README's pictures of reports: `python -m tests.browser FOLDER COMPUTED`.

`opcert certify --backend openvino --out FOLDER` wrote the first folder, and `opcert certify
--backend onnxruntime --operator 'openvino/S[iqo]*' --profile smoke --out COMPUTED` the second.
"""

import sys
from pathlib import Path

from opcert.report.files import REPORT_FILE
from tests.browser.chromium import launched, opened

PICTURES = Path(__file__).parents[2] / ".github"
SIZE = {"width": 1280, "height": 1000}


def main(folder: Path, computed: Path) -> None:
    """Write pictures of the first bug, of the list of all bugs, and of the accuracy."""
    report, accuracy = ((path / REPORT_FILE).absolute() for path in (folder, computed))
    with (
        launched() as browser,
        opened(browser, report, viewport=SIZE, color_scheme="light") as page,
    ):
        page.locator("details.bug > summary").first.click()
        page.evaluate("document.querySelector('#bugs').scrollIntoView()")
        page.screenshot(path=PICTURES / "report.png")
        page.get_by_role("button", name="Collapse all").first.click()
        page.locator("section:has(#bugs)").screenshot(path=PICTURES / "bugs.png")
    with (
        launched() as browser,
        opened(browser, accuracy, viewport=SIZE, color_scheme="light") as page,
    ):
        # It sticks to the top of a long picture.
        page.evaluate("document.querySelector('.contents').remove()")
        page.locator("section:has(#accuracy)").screenshot(path=PICTURES / "accuracy.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
