"""Guides, specs and a suite -> a folder of Markdown, of which Sphinx makes a site."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from importlib import metadata, resources
from pathlib import Path

from opcert.output_files import FileContents
from opcert.pages.operator_markdown import case_counts, operator_markdown, page_name, render
from opcert.panel.strength import Strength
from opcert.specification.files import SpecFile
from opcert.suite.suite import Suite

# Each file begins with one of these marks, so that foreign files are recognised.
MARKS = ("<!-- opcert docs -->", "# opcert docs: the configuration of Sphinx")
# The guides in the order of the navigation.
GUIDES = (
    "README.md",
    "generator/backends/README.md",
    "generator/backends/examples/README.md",
    "generator/backends/certificates/README.md",
    "generated/README.md",
    "specs/README.md",
    "generator/README.md",
    "reference/README.md",
    "tests/README.md",
)
# The installed package of each folder of the repository; the tests are not installed.
_PACKAGES = {
    "generator": "opcert",
    "generated": "opcert.generated",
    "specs": "opcert.specs",
    "reference": "opcert.reference",
}
_LINK = re.compile(r"!?\[([^\]]*)\]\(([\w./-]+)(?:#[\w-]+)?\)")


def render_docs(
    spec_files: Iterable[SpecFile], suite: Suite, strengths: Mapping[str, Strength]
) -> FileContents:
    """Return every file by name: guides, pages of operators, an index and Sphinx's configuration.

    The pages of operators in `strengths` state their strength.

    Raises:
        OpcertError: the suite was generated from another text of a spec.
    """
    guides, operators = read_guides(), []
    files = {name: _with_own_links(name, text, guides) for name, text in guides.items()}
    for spec_file in spec_files:
        spec = spec_file.spec
        pages = operator_markdown(spec_file, suite, strengths.get(spec.operator))
        files |= {f"operators/{name}": text for name, text in pages.items()}
        counts = case_counts(suite.operators.get(spec.operator)) or ("none here",) * 3
        operators.append((spec, f"operators/{page_name(spec.operator)}", counts))
    listed = {"Guides": guides, "Operators": sorted(files.keys() - guides.keys())}
    index = render("index.md.jinja", suite=suite, operators=operators, pages=listed)
    return {**files, "index.md": index, "conf.py": render("conf.py.j2")}


def read_guides() -> dict[str, str]:
    """Return the text of the guides by name; installations lack the one on tests."""
    root = Path(str(resources.files("opcert"))).parent
    # The checkout is newer than the metadata of its editable installation.
    if (root / "pyproject.toml").is_file():
        return {name: (root / name).read_text(encoding="utf-8") for name in GUIDES}
    guides = {"README.md": str(metadata.metadata("opcert").json["description"])}
    for name in GUIDES:
        folder, _, rest = name.partition("/")
        if folder in _PACKAGES:
            guides[name] = (resources.files(_PACKAGES[folder]) / rest).read_text(encoding="utf-8")
    return guides


def _with_own_links(name: str, text: str, guides: Mapping[str, str]) -> bytes:
    """Return a guide with the mark, without pictures and without links to what is no guide."""

    def kept(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), link[2]))
        return link[0] if path in guides else "" if link[0].startswith("!") else link[1]

    return f"{MARKS[0]}\n{_LINK.sub(kept, text)}".encode()
