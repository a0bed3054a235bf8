"""A page of HTML, parsed for tests: its tags, ids, links and text."""

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "wbr"}


@dataclass
class Page(HTMLParser):
    """What a page contains; a tag that is not closed in its place is an error."""

    open: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute of {tag} occurs twice"
        self.tags.append((tag, given))
        self.ids += [value for value in (given.get("id"),) if value]
        self.links += [value for value in (given.get("href"),) if value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open
    return page
