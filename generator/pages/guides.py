"""Reads the guides of opcert from a checkout or an installation, and renders them as pages."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from opcert.errors import OpcertError
from opcert.pages.markdown import RenderedGuide, render_markdown

# The guides in the order of the navigation: name of the page, and file in the repository.
GUIDES = {
    "index": "README.md",
    "backends": "generator/backends/README.md",
    "examples": "generator/backends/examples/README.md",
    "certificates": "generator/backends/certificates/README.md",
    "golden-data": "generated/README.md",
    "specs": "specs/README.md",
    "architecture": "generator/README.md",
    "reference": "reference/README.md",
    "tests": "tests/README.md",
}
# The installed package of each folder of the repository; the tests are not installed.
_PACKAGES = {
    "generator": "opcert",
    "generated": "opcert.generated",
    "specs": "opcert.specs",
    "reference": "opcert.reference",
}
_REPOSITORY_LABELS = ("repository", "source", "source code")
# A link that does not lead to a file of the repository.
_ELSEWHERE = re.compile(r"#|\w+:")


@dataclass(frozen=True)
class Guide:
    """A guide in Markdown: the name of its page, its file in the repository, its text."""

    name: str
    source: str
    text: str

    @property
    def page(self) -> str:
        """The file name of its page."""
        return f"{self.name}.html"


def read_guides() -> list[Guide]:
    """Return the guides in the order of the navigation; installations lack the one on tests.

    Raises:
        OpcertError: another guide is missing.
    """
    guides = []
    for name, source in GUIDES.items():
        text = _text_of(source)
        if text is not None:
            guides.append(Guide(name, source, text))
        elif source.partition("/")[0] in _PACKAGES:
            raise OpcertError(f"the installation lacks the guide {source}; install opcert again")
    return guides


def render_guides(
    guides: Sequence[Guide], addresses: Mapping[str, str], repository: str | None = None
) -> dict[str, RenderedGuide]:
    """Return the guides as HTML by page.

    Links between guides become links between pages; names in backquotes that are in `addresses`
    become links; links to other files lead to `repository`, if it is known.
    """
    pages = {guide.source: guide.page for guide in guides}

    def resolve(guide: Guide, link: str) -> str | None:
        if _ELSEWHERE.match(link):
            return link
        path, separator, fragment = link.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(guide.source), path))
        # A code host shows the README of a folder, and a guide may link to the folder.
        page = pages.get(source) or pages.get(posixpath.normpath(f"{source}/README.md"))
        if page is not None:
            return page + separator + fragment
        return f"{repository}/blob/HEAD/{source}{separator}{fragment}" if repository else None

    return {
        guide.page: render_markdown(guide.text, partial(resolve, guide), addresses.get)
        for guide in guides
    }


def repository_address() -> str | None:
    """Return the address of opcert's repository, if its metadata states one."""
    entries: list[str] = metadata.metadata("opcert").get_all("Project-URL") or []
    for entry in entries:
        label, _, address = entry.partition(", ")
        if label.lower() in _REPOSITORY_LABELS:
            return address.rstrip("/")
    return None


def _text_of(source: str) -> str | None:
    root = _checkout()
    if root is not None:
        # The checkout is newer than the metadata of its editable installation.
        path: Traversable = root / source
    elif source == "README.md":
        return str(metadata.metadata("opcert").json["description"])
    else:
        folder, _, rest = source.partition("/")
        if folder not in _PACKAGES:
            return None
        path = resources.files(_PACKAGES[folder]) / rest
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _checkout() -> Path | None:
    """Return the root of the checkout that opcert is imported from, if it is not installed."""
    root = Path(str(resources.files("opcert"))).parent
    return root if (root / "pyproject.toml").is_file() else None
