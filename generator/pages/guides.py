"""The guides of opcert: where each is found in a checkout and in an installed package."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

# The guides in the order of the navigation: the name of the page, and the file in the repository.
# The file's folder is the one of a package, but for README.md and tests/README.md.
GUIDES = {
    "index": "README.md",
    "backends": "generator/backends/README.md",
    "golden-data": "generated/README.md",
    "specs": "specs/README.md",
    "architecture": "generator/README.md",
    "reference": "reference/README.md",
    "tests": "tests/README.md",
}
_PACKAGES = {
    "generator/backends": "opcert.backends",
    "generated": "opcert.generated",
    "specs": "opcert.specs",
    "generator": "opcert",
    "reference": "opcert.reference",
}
_REPOSITORY_LABELS = ("repository", "source", "source code")


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
    """Return the guides that this installation has, in the order of the navigation."""
    return list(_guides())


def repository() -> str | None:
    """Return the address of opcert's repository, if its metadata states one."""
    for entry in metadata.metadata("opcert").get_all("Project-URL") or ():
        label, _, address = entry.partition(", ")
        if label.lower() in _REPOSITORY_LABELS:
            return address.rstrip("/")
    return None


def _guides() -> Iterator[Guide]:
    for name, source in GUIDES.items():
        text = _text_of(source)
        if text is not None:
            yield Guide(name, source, text)


def _text_of(source: str) -> str | None:
    folder, _, file = source.rpartition("/")
    # A checkout is newer than the metadata of its editable installation.
    root = _checkout()
    if root is not None and (root / source).is_file():
        return (root / source).read_text(encoding="utf-8")
    if folder in _PACKAGES:
        path = resources.files(_PACKAGES[folder]) / file
        return path.read_text(encoding="utf-8") if path.is_file() else None
    if folder == "":
        return metadata.metadata("opcert").json["description"]
    return None


def _checkout() -> Path | None:
    """Return the root of the checkout that opcert is imported from, if it is not installed."""
    root = Path(str(resources.files("opcert"))).parent
    return root if (root / "pyproject.toml").is_file() else None
