"""The house: one direction of imports, no operator's name in the generator, packages as listed."""

import ast
import tomllib
from pathlib import Path

import pytest

from opcert.generator.spec_files import specs_in

ROOT = Path(__file__).parent.parent
GENERATOR = ROOT / "generator"
# From the spec to the command line; a module imports only from rows above its own, or its own row.
LAYERS = [
    ["errors", "element_types", "flaws", "given_files", "layouts", "output", "python_files"],
    ["calls", "choices", "packs", "signing", "yaml_source", "patterns"],
    ["arrays", "cover", "model_mistakes", "python_text", "rows", "siblings"],
    ["expressions"],
    ["samplers", "spec"],
    ["naming"],
    ["law_names", "table_names"],
    ["spec_names", "conditions", "drawing"],
    ["sight"],
    ["spec_examples"],
    ["spec_files"],
    ["case", "changes"],
    ["valid_cases", "changed_cases"],
    ["cases"],
    ["vectors"],
    ["laws", "suite_format"],
    ["emit", "operator_suite", "spec_check"],
    ["accounts", "case_programs", "rule_cases", "suite"],
    ["explain"],
    ["operator_page", "writing"],
    ["generation", "pages"],
    ["excerpts"],
    ["backends", "backends.reference", "comparison", "support"],
    ["backends.hows", "backends.options"],
    ["backend_list", "backends.composition"],
    ["backends.array_adapter"],
    ["backends.array_api", "backends.jax", "backends.torch"],
    ["backends.plain_calls", "backends.openvino_tensors"],
    ["backends.onnx_nodes", "backends.openvino_models"],
    ["backends.onnxruntime", "backends.openvino"],
    ["buffers", "claims", "freed_memory"],
    ["run"],
    ["messages", "worker"],
    ["process"],
    ["introduction"],
    ["driver_process", "worker_process"],
    ["configuration", "supervised"],
    ["driver_probes"],
    ["driver_check"],
    ["rehearsal"],
    ["stage", "verdict"],
    ["scope", "waivers"],
    ["trials"],
    ["search"],
    ["explore"],
    ["snippets"],
    ["anonymous"],
    ["certification"],
    ["causes"],
    ["confirmation"],
    ["certificate", "pytest_suite"],
    ["certificate_file", "entries"],
    ["resumption", "submission", "verdict_checks"],
    ["confirmation_checks", "excerpt_checks", "run_checks", "submission_checks", "waiver_checks"],
    ["rerun", "verification"],
    ["certify_suite", "coverage"],
    ["tallies"],
    ["cause_page", "junit", "side_by_side"],
    ["report_page"],
    ["report_files"],
    ["claim_draft", "report", "report_checks"],
    ["cli_options"],
    ["cli_certify", "cli_driver", "cli_pages", "cli_verify"],
    ["cli"],
]


def module_name(path: Path) -> str:
    parts = path.relative_to(GENERATOR).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
    return {
        name.removeprefix("opcert.generator").lstrip(".")
        for name in found
        if name.startswith("opcert.generator")
    }


MODULES = {module_name(path): path for path in GENERATOR.rglob("*.py")}


def test_every_module_has_its_layer() -> None:
    assert {name for layer in LAYERS for name in layer} == MODULES.keys() - {""}


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {""}))
def test_imports_point_one_way(name: str) -> None:
    height = {module: i for i, layer in enumerate(LAYERS) for module in layer}
    assert all(height[each] <= height[name] for each in imported(MODULES[name]) if each)


def test_the_reference_imports_nothing_of_the_generator() -> None:
    for path in (ROOT / "reference").glob("*.py"):
        assert "opcert.generator" not in path.read_text()


def test_no_operator_is_named_in_the_generator() -> None:
    names = {spec.spec.operator.partition("/")[2] for spec in specs_in(None)}
    names |= {spec.spec.slug for spec in specs_in(None)}
    names |= {name.partition("-")[0] for name in names if name != name.lower()}
    texts = [*GENERATOR.glob("*.py"), *(GENERATOR / "templates").iterdir()]
    for path in texts:
        found = [name for name in names if name in path.read_text()]
        # "Slice" alone is a word of Python's.
        assert not [name for name in found if name != "Slice"], path


def test_the_listed_packages_are_the_folders() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {"opcert." + name for name in ("generator", "reference", "specs", "generated")}
    assert set(tools["packages"]) == folders | {"opcert.generator.backends"}
    assert tools["package-dir"].keys() == set(tools["packages"])
    for name, folder in tools["package-dir"].items():
        assert (ROOT / folder / "__init__.py").is_file(), name


def test_the_top_level_holds_what_the_design_names() -> None:
    allowed = {"pyproject.toml", "README.md", "LICENSE"}
    allowed |= {"specs", "generator", "reference", "generated", "tests"}
    beside = {"build", "dist"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in found if not name.endswith(".egg-info")} - beside <= allowed
