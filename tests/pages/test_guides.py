"""The guides are found in a checkout, and in an installed package."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.pages import guides
from opcert.pages.guides import GUIDES, read_guides, repository_address

ROOT = Path(__file__).parents[2]


def test_a_checkout_has_its_own_guides() -> None:
    for guide in read_guides():
        assert guide.text == (ROOT / guide.source).read_text(encoding="utf-8")


def test_every_readme_of_the_checkout_is_a_guide() -> None:
    folders = ("specs", "generator", "reference", "generated", "tests")
    readmes = [path for folder in folders for path in (ROOT / folder).rglob("README.md")]
    sources = {path.relative_to(ROOT).as_posix() for path in readmes} | {"README.md"}
    assert sources == {*GUIDES.values()} == {guide.source for guide in read_guides()}


def test_an_installed_package_has_every_guide_but_that_to_the_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guides, "_checkout", lambda: None)
    installed = {guide.source: guide.text for guide in read_guides()}
    assert installed.keys() == {*GUIDES.values()} - {"tests/README.md"}
    assert installed["README.md"].startswith("# opcert\n")
    assert installed["specs/README.md"] == (ROOT / "specs" / "README.md").read_text("utf-8")


def test_a_missing_guide_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GUIDES, "other", "generator/other.md")
    with pytest.raises(OpcertError, match=r"lacks the guide generator/other\.md; install opcert"):
        read_guides()


def test_every_guide_is_shipped() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = project["package-dir"]
    shipped = set()
    for package, globs in project["package-data"].items():
        name, _, rest = package.rpartition(".") if package not in folders else (package, "", "")
        folder = ROOT / folders[name] / rest
        shipped |= {path for pattern in globs for path in folder.glob(pattern)}
    for source in GUIDES.values():
        if not source.startswith("tests/") and source != "README.md":
            assert ROOT / source in shipped, source


@pytest.mark.parametrize(
    ("entries", "address"),
    [
        (None, None),
        (["Documentation, https://example.com/docs"], None),
        (
            ["Homepage, https://a.example", "Repository, https://b.example/r/"],
            "https://b.example/r",
        ),
        (["Source, https://c.example/r"], "https://c.example/r"),
    ],
)
def test_the_address_of_the_repository_is_that_of_the_metadata(
    entries: list[str] | None, address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Metadata:
        def get_all(self, name: str) -> list[str] | None:
            assert name == "Project-URL"
            return entries

    monkeypatch.setattr(metadata, "metadata", lambda _: Metadata())
    assert repository_address() == address
