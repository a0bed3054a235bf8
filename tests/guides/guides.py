r"""The guides: the README of each folder, read into commands, files, links and headings.

A guide is Markdown in this form:

- A fence ```` ```python name.py ```` shows a whole file, which is written before commands run.
- A fence ```` ```sh ```` has commands, a line each, with `\` at the end to continue. All of them
  run, in the guide's order and in one folder. They succeed, except where a line ends in
  `# exit code N`.
- A fence ```` ```console ```` has commands after `$ `, and below each what it prints on stdout;
  `...` matches any text.
- The word `slow` after `sh` or `console` leaves the block to `pytest -m slow`.
- Any other fence is not run. Commands of opcert in it have to be valid all the same.

The folders of a clone (`specs/`, `generated/`, ...) are copied where a command names them. A block
that needs a program or a package that is not installed is left out whole, so a block also has the
commands that use what it makes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
FOLDERS = ("specs", "generator", "reference", "generated", "tests")


@dataclass(frozen=True)
class Command:
    """A command line; `expected` is what it prints, where the guide says so."""

    text: str
    expected: str | None = None

    @property
    def exit_code(self) -> int:
        """The exit code that the guide names, by default 0."""
        comment = re.search(r"# exit code (\d+)$", self.text)
        return int(comment[1]) if comment else 0


@dataclass(frozen=True)
class Block:
    """A fence: its language, the file that it shows or `slow`, and its text."""

    language: str
    argument: str
    text: str

    @property
    def file(self) -> str:
        """The path of the file that the fence contains, or nothing."""
        return "" if self.runs else self.argument

    @property
    def runs(self) -> bool:
        """Whether the block has commands that are run."""
        return self.language in ("sh", "console")

    @property
    def slow(self) -> bool:
        """Whether the commands are left to the slow tests."""
        return self.runs and self.argument == "slow"

    @property
    def commands(self) -> list[Command]:
        """The commands of the block, in order."""
        lines = self.text.replace("\\\n", "").splitlines()
        if self.language == "sh":
            return [Command(line) for line in lines if line and not line.startswith("#")]
        if self.language == "console":
            first, *texts = ("\n" + self.text.replace("\\\n", "")).split("\n$ ")
            assert not first.strip(), f"output without a command: {first}"
            parts = [text.partition("\n") for text in texts]
            return [Command(line, output.strip()) for line, _, output in parts]
        # Not run, but checked.
        return [Command(line) for line in lines if re.match(r"for |opcert |python -m |pip ", line)]


@dataclass(frozen=True)
class Heading:
    """A heading with its level and its anchor."""

    level: int
    text: str
    anchor: str


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def blocks_of(text: str) -> list[Block]:
    """Return every fence of a text, in order."""
    blocks = []
    for token in parse(text):
        if token.type == "fence":
            language, argument, *_ = (*token.info.split(), "", "")
            blocks.append(Block(language, argument, token.content))
    return blocks


class Guide:
    """A README, parsed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        self.text = path.read_text(encoding="utf-8")
        self.tokens = parse(self.text)

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def blocks(self) -> list[Block]:
        """Every fence, in order."""
        return blocks_of(self.text)

    def section(self, heading: str) -> str:
        """Return the text below a heading, up to the next one."""
        return self.text.partition(f"# {heading}\n")[2].partition("\n##")[0]

    @cached_property
    def commands(self) -> list[Command]:
        """Every command, be it run or not."""
        return [command for block in self.blocks for command in block.commands]

    @cached_property
    def headings(self) -> list[Heading]:
        """Every heading with the anchor that code hosts give it."""
        headings: list[Heading] = []
        anchors: dict[str, int] = {}
        for opened, inline in zip(self.tokens, self.tokens[1:], strict=False):
            if opened.type == "heading_open":
                text = plain_text(inline)
                anchor = anchor_of(text)
                count = anchors[anchor] = anchors.get(anchor, -1) + 1
                anchor = f"{anchor}-{count}" if count else anchor
                headings.append(Heading(int(opened.tag[1:]), text, anchor))
        return headings

    @cached_property
    def links(self) -> list[str]:
        """The targets of every link and image."""
        pairs = [(each.attrGet("href"), each.attrGet("src")) for each in self._inline_tokens()]
        return [str(target) for pair in pairs for target in pair if target]

    @cached_property
    def inline_code(self) -> list[str]:
        """Every span of code outside of the fences."""
        return [each.content for each in self._inline_tokens() if each.type == "code_inline"]

    @cached_property
    def contents(self) -> list[tuple[int, str, str]]:
        """The contents list: depth, text and anchor of each entry.

        It is the first list of the guide if all that its entries have is a link within the page.
        """
        start = next((i for i, t in enumerate(self.tokens) if t.type == "bullet_list_open"), None)
        if start is None:
            return []
        entries = []
        depth = -1
        for token in self.tokens[start:]:
            depth += {"bullet_list_open": 1, "bullet_list_close": -1}.get(token.type, 0)
            if depth < 0:
                break
            if token.type == "inline":
                link = (token.children or [token])[0]
                target = str(link.attrGet("href") or "")
                if not target.startswith("#"):
                    return []
                entries.append((depth, plain_text(token), target[1:]))
        return entries

    def _inline_tokens(self) -> Iterator[Token]:
        for token in self.tokens:
            yield from token.children or ()


def plain_text(inline: Token) -> str:
    """Return the text of a heading or a list entry without its markup."""
    return "".join(each.content for each in inline.children or ())


def anchor_of(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# The README of the project, and those of its folders.
_BELOW = (path for folder in FOLDERS for path in (ROOT / folder).rglob("README.md"))
GUIDES = [Guide(path) for path in (ROOT / "README.md", *sorted(_BELOW))]
with_guide = pytest.mark.parametrize("guide", GUIDES, ids=repr)
