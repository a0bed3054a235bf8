"""Makes the README's picture of a report: `python -m tests.browser`."""

import tempfile
from pathlib import Path

from opcert import certify
from opcert.report import REPORT_FILE, report_files
from tests.browser.chromium import launched, opened
from tests.samples import suite
from tests.wrong_backends import ThroughFloat16

PICTURE = Path(__file__).parents[2] / ".github" / "report.png"
SIZE = {"width": 1280, "height": 1000}


class Rounding(ThroughFloat16):
    """Correct except for f32."""

    name = "rounding"


def main() -> None:
    """Write the first cause in the report of a backend that is wrong in one way."""
    text = report_files(certify(Rounding(), suite()), suite())[REPORT_FILE]
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        path = Path(folder) / REPORT_FILE
        path.write_bytes(text)
        with opened(browser, path, viewport=SIZE, color_scheme="light") as page:
            page.evaluate("document.querySelector('#causes').scrollIntoView()")
            page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
