"""`opcert docs` as a user sees it: the files that it leaves."""

from pathlib import Path

import pytest

from opcert.specification.files import shipped_operators
from tests.command_line import opcert

OPERATOR = "directml/DML_OPERATOR_SPLIT"


@pytest.mark.slow
def test_docs_writes_pages_of_each_operator_and_replaces_them(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    opcert("docs", "--out", folder, exits=0)
    names = {path.name for path in (folder / "operators").iterdir()}
    assert names >= {f"{operator.replace('/', '-')}.md" for operator in shipped_operators()}
    opcert("docs", "--out", folder, "--operator", OPERATOR, exits=0)
    names = {path.name for path in (folder / "operators").iterdir()}
    page = OPERATOR.replace("/", "-")
    assert names == {f"{page}.md", f"{page}-cases.md"}
    assert {path.name for path in folder.iterdir()} == {"index.md", "conf.py", "operators"}
