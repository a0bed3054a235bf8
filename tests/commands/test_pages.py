"""`opcert docs` and `opcert explain` as a user sees them: exit codes, messages, files left."""

from pathlib import Path

import pytest

from opcert.specification.files import shipped_operators
from opcert.suite.suite import core_suite_folder
from tests.command_line import opcert
from tests.faults.finding import core_suite

GATHERS = len(core_suite().select("openvino/Gather-8", "*"))

OPERATOR = "directml/DML_OPERATOR_SPLIT"


@pytest.mark.slow
def test_docs_writes_guides_and_pages_of_each_operator_and_replaces_them(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    result = opcert("docs", "--out", folder)
    assert result.exit_code == 0, result.stderr
    names = {path.name for path in (folder / "operators").iterdir()}
    assert names >= {f"{operator.replace('/', '-')}.md" for operator in shipped_operators()}
    assert opcert("docs", "--out", folder, "--operator", OPERATOR).exit_code == 0
    names = {path.name for path in (folder / "operators").iterdir()}
    page = OPERATOR.replace("/", "-")
    assert names == {f"{page}.md", f"{page}-cases.md"}
    assert {"index.md", "conf.py", "README.md", "specs"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "docs", "--operator", "openvino/Slice8"], "did you mean 'openvino/Slice-8'?"),
        (["--out", "docs", "--specs", "nowhere"], "no spec in nowhere"),
        (["--out", "docs", "--suite", "nowhere"], "expected a folder that `opcert generate` wrote"),
        (["--out", str(core_suite_folder() / "docs")], "is inside the suite"),
        (
            ["--out", "thesis"],
            "thesis: contains chapter.html, not part of the Markdown of `opcert docs`",
        ),
        (["--out", "thesis/chapter.html"], "chapter.html: is not a folder; expected a folder"),
    ],
)
def test_docs_with_invalid_arguments_exit_2_and_change_nothing(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("thesis").mkdir()
    Path("thesis/chapter.html").write_text("<p>years of work")
    result = opcert("docs", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", "").split())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]
    assert Path("thesis/chapter.html").read_text() == "<p>years of work"
    assert not (core_suite_folder() / "docs").exists()


def test_explain_shows_a_case_and_its_program() -> None:
    result = opcert("explain", "gather-8/example-1", "--backend", "reference")
    assert result.exit_code == 0
    assert "output 0 = i32[3] [1, 1, 5]" in result.stdout
    assert "backend = load('reference')" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gather-8/exampel-1"], "did you mean 'gather-8/example-1'?"),
        (["gather-8/*"], f"{GATHERS} cases match 'gather-8/*', expected one: gather-8/example-1, "),
        (["gather-8/example-1", "--backend", "refrence"], "did you mean 'reference'?"),
        (["gather-8/example-1", "--suite", "nowhere"], "nowhere/manifest.json"),
        (["gather-8/example-1", "--backend-option", "x=1"], "--backend-option needs --backend"),
    ],
)
def test_a_case_that_cannot_be_explained_exits_2(arguments: list[str], message: str) -> None:
    result = opcert("explain", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
