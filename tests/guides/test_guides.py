"""Reading a guide: blocks, commands, exit codes, outputs, contents; what does not hold fails."""

from pathlib import Path

import pytest

from tests.guides.guides import Command, Guide
from tests.guides.test_commands import missing, run, run_all
from tests.guides.test_links import test_relative_links_lead_to_files_and_headings as check_links

TEXT = """# Title

- [One](#one)
  - [Two, `too`](#two-too)

## One

```python made.py
print("made")
```

```sh
# A comment.
python made.py > \\
  printed.txt
opcert certify --backend none.py:Backend # exit code 2
```

### Two, `too`

```console slow
$ cat printed.txt
ma...
$ cat printed.txt
made
```

```text
opcert certify --backend anything
a > b
```
"""


@pytest.fixture
def guide(tmp_path: Path) -> Guide:
    """A guide of two sections."""
    (tmp_path / "README.md").write_text(TEXT)
    return Guide(tmp_path / "README.md")


def test_blocks_have_files_commands_and_outputs(guide: Guide) -> None:
    assert [block.file for block in guide.blocks] == ["made.py", "", "", ""]
    assert [block.slow for block in guide.blocks] == [False, False, True, False]
    assert guide.commands == [
        Command("python made.py >   printed.txt"),
        Command("opcert certify --backend none.py:Backend # exit code 2"),
        Command("cat printed.txt", "ma..."),
        Command("cat printed.txt", "made"),
        Command("opcert certify --backend anything"),
    ]
    assert [command.exit_code for command in guide.commands] == [0, 2, 0, 0, 0]


@pytest.mark.parametrize(
    "command",
    [
        Command("echo made", "other"),
        Command("echo made", "mad"),
        Command("echo made # exit code 1"),
        Command("false"),
        Command("opcert certify --backend none.py:Backend"),
    ],
)
def test_another_output_or_exit_code_fails(command: Command, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"made|false|opcert"):
        run(command, tmp_path)


def test_a_block_that_needs_what_is_missing_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "README.md"
    path.write_text("# Title\n\n```sh\nnode made.mjs\nfalse\n```\n")
    monkeypatch.setattr("tests.guides.test_commands.shutil.which", lambda _: None)
    assert list(missing(Guide(path).blocks[0])) == ["node"]
    with pytest.raises(pytest.skip.Exception, match="all ran but the commands that need node"):
        run_all(Guide(path), tmp_path, slow=False)


@pytest.mark.parametrize("link", ["none.md", "#none", "README.md#none", "https"])
def test_a_link_to_nothing_fails(link: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Title\n\n[a link]({link})\n")
    with pytest.raises(AssertionError):
        check_links(Guide(path))
