"""Markdown of a guide -> HTML: heading ids, highlighted code, links to pages."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise, takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Returns the link on the page for a link in a guide, or None if its address is unknown.
Resolve = Callable[[str], str | None]
# Returns the address of a name in backquotes, or None if no page describes it.
Locate = Callable[[str], str | None]


@dataclass(frozen=True)
class Section:
    """A heading of a guide: its id on the page, its level from 1, and the text below it."""

    id: str
    level: int
    title: str
    text: str


@dataclass(frozen=True)
class RenderedGuide:
    """A guide as HTML, with its sections in order; the first one has the guide's title."""

    html: str
    sections: tuple[Section, ...]


def render_markdown(text: str, resolve: Resolve, locate: Locate) -> RenderedGuide:
    """Return a guide as HTML, without its comments, the only raw HTML in guides."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = [token for token in markdown.parse(text) if token.type != "html_block"]
    sections = tuple(_sections(tokens))
    page = list(_page_tokens(tokens, resolve, locate))
    return RenderedGuide(markdown.renderer.render(page, markdown.options, {}), sections)


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    """Yield the sections in order, and give each heading its id."""
    slugs: Counter[str] = Counter()
    starts = [i for i, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in pairwise([*starts, len(tokens)]):
        heading, title = tokens[start], _plain(tokens[start + 1])
        slug = _slug(title, slugs)
        heading.attrSet("id", slug)
        texts = [
            token.content if token.type == "fence" else _plain(token)
            for token in tokens[start + 2 : end]
            if token.type in ("fence", "inline")
        ]
        yield Section(slug, int(heading.tag[1]), title, " ".join(" ".join(texts).split()))


def _page_tokens(tokens: Iterable[Token], resolve: Resolve, locate: Locate) -> Iterator[Token]:
    """Yield the tokens of the page, with links, highlighted code and scrollable tables."""
    tables = 0
    for token in tokens:
        if token.type == "fence":
            yield _raw(_code(token.content, token.info))
            continue
        if token.type == "inline":
            token.children = _linked(token.children or [], resolve, locate)
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "table_open":
            # A wide table scrolls in a region of its own, which has a name for screen readers.
            tables += 1
            label = f'aria-label="Table {tables}"'
            yield _raw(f'<div class="scroll" role="region" {label} tabindex="0">\n')
        yield token
        if token.type == "table_close":
            yield _raw("</div>\n")


def _slug(title: str, slugs: Counter[str]) -> str:
    """Return the id that code hosts give a heading; `slugs` counts earlier ids of the page."""
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    slugs[slug] += 1
    return slug if slugs[slug] == 1 else f"{slug}-{slugs[slug] - 1}"


def _plain(inline: Token) -> str:
    """Return the text of an inline token without its markup."""
    parts = []
    for token in inline.children or ():
        if token.type in ("text", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts)


def _linked(tokens: Sequence[Token], resolve: Resolve, locate: Locate) -> list[Token]:
    """Return inline tokens with resolved links, and with links for names in backquotes."""
    linked: list[Token] = []
    rest = iter(tokens)
    for token in rest:
        if token.type == "link_open":
            label = list(takewhile(lambda inner: inner.type != "link_close", rest))
            address = str(token.attrGet("href"))
            target = resolve(address)
            code = _raw(f"<code>{escape(address)}</code>")
            if target is not None:
                token.attrSet("href", target)
                linked += [token, *label, _raw("</a>")]
            elif address.strip("/") == "".join(inner.content for inner in label).strip("/"):
                linked.append(code)
            else:
                linked += [*label, _raw(" ("), code, _raw(")")]
        elif token.type == "code_inline" and (place := locate(token.content)) is not None:
            named = f"<code>{escape(token.content)}</code>"
            linked.append(_raw(f'<a href="{escape(place)}">{named}</a>'))
        elif token.type == "image":
            linked.append(_raw(f'<span class="muted">[Picture: {escape(token.content)}]</span>'))
        elif token.type != "html_inline":
            linked.append(token)
    return linked


def _code(text: str, info: str) -> str:
    """Return highlighted code; `info` has its language and optionally a file name."""
    language, _, file = info.partition(" ")
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    code = highlight(text, lexer, HtmlFormatter(nowrap=True))
    caption = f"<figcaption>{escape(file)}</figcaption>" if file else ""
    pre = f'<pre class="highlight" tabindex="0"><code>{code}</code></pre>'
    return f'<figure class="code">{caption}{pre}</figure>\n'


def _raw(html: str) -> Token:
    """Return a token that the renderer writes as it is."""
    return Token("html_block", "", 0, content=html)
