"""The house: one direction of imports, no operator's name in the generator, packages as listed."""

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

from opcert.specification.files import read_specs_in

ROOT = Path(__file__).parent.parent
GENERATOR = ROOT / "generator"
# From arrays to the command line; a room imports only from rooms before it.
ROOMS = [
    "errors",
    "system",
    "workers",
    "arrays",
    "accuracy",
    "yaml_files",
    "settings",
    "choices",
    "diagnosis",
    "roles",
    "specification",
    "cases",
    "backends",
    "suite",
    "run",
    "programs",
    "isolation",
    "verdicts",
    "strength",
    "exploration",
    "certificate",
    "pytest_suite",
    "report",
    "verification",
    "commands",
    "cli",
    "__main__",
]
MODULES = {
    ".".join(path.relative_to(GENERATOR).with_suffix("").parts).removesuffix(".__init__"): path
    for path in GENERATOR.rglob("*.py")
    if path != GENERATOR / "__init__.py"
}


def imported(path: Path) -> set[str]:
    """Return the modules of the generator that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return {name.removeprefix("opcert.") for name in found} & MODULES.keys()


def test_every_room_is_listed() -> None:
    assert {name.partition(".")[0] for name in MODULES} == set(ROOMS)


def test_a_room_imports_only_from_rooms_before_it() -> None:
    height = {room: i for i, room in enumerate(ROOMS)}
    for name, path in MODULES.items():
        rooms = {each.partition(".")[0] for each in imported(path)}
        assert all(height[room] <= height[name.partition(".")[0]] for room in rooms), name


def test_no_modules_import_one_another_in_a_circle() -> None:
    TopologicalSorter({name: imported(path) - {name} for name, path in MODULES.items()}).prepare()


def test_a_package_has_the_names_that_it_exports() -> None:
    for name in ("", *(name for name in MODULES if "." not in name)):
        package = import_module(f"opcert.{name}".rstrip("."))
        assert all(hasattr(package, exported) for exported in getattr(package, "__all__", ())), name


def test_the_reference_imports_nothing_of_the_generator() -> None:
    for path in (ROOT / "reference").glob("*.py"):
        assert not imported(path)


def test_no_operator_is_named_in_the_generator() -> None:
    names = {spec.spec.operator.partition("/")[2] for spec in read_specs_in(None)}
    names |= {spec.spec.slug for spec in read_specs_in(None)}
    names |= {name.partition("-")[0] for name in names if name != name.lower()}
    texts = [path for name, path in MODULES.items() if not name.startswith("backends")]
    texts += (GENERATOR / "templates").iterdir()
    for path in texts:
        found = re.findall(r"\w+(?:-\d+)?", path.read_text())
        # These alone are words of Python's, of English or of arithmetic.
        words = {"Add", "Clamp", "Convert", "Divide", "Less", "Maximum", "Multiply", "Select"}
        assert not names.intersection(found) - words - {"Slice"}, path


def test_the_listed_packages_are_the_folders() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    top = {"opcert." + name: name for name in ("reference", "specs", "generated")}
    top["opcert"] = "generator"
    rooms = {path.parent.name for path in GENERATOR.glob("*/__init__.py")}
    assert tools["package-dir"] == top
    assert set(tools["packages"]) == top.keys() | {f"opcert.{room}" for room in rooms}


def test_the_top_level_holds_what_the_design_names() -> None:
    allowed = {"pyproject.toml", "README.md", "LICENSE"}
    allowed |= {"specs", "generator", "reference", "generated", "tests"}
    ignored = {"build", "dist"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in found if not name.endswith(".egg-info")} - ignored <= allowed
