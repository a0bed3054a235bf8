"""What guides list is what there is in the code: tables, declarations, files to copy."""

import builtins
import re
from dataclasses import fields
from types import SimpleNamespace

from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.arrays.layouts import Layout
from opcert.arrays.tensor_functions import LAW_FUNCTIONS, TENSOR_BUILDERS, TENSOR_CHANGES
from opcert.certificate.certificate import SCHEMA
from opcert.roles import ROLES
from opcert.roles.role import Role
from opcert.specification.elements import FORMULA_FUNCTIONS
from opcert.suite.format import (
    FORMAT,
    GeneratedArray,
    Index,
    IndexedCase,
    ListedArray,
    StoredArray,
)
from opcert.suite.support import checked_support
from opcert.verdicts.verdict import FAILURE_KINDS, STATUSES
from tests.faults.finding import core_suite
from tests.guides.guides import GUIDES, ROOT, Guide
from tests.test_structure import ROOMS

TEXT = "\n".join(guide.text for guide in GUIDES)
BLOCKS = [block for guide in GUIDES for block in guide.blocks]
README = GUIDES[0]


def test_the_readme_begins_with_the_two_lines_that_ci_runs() -> None:
    first, second = README.blocks[:2]
    assert (first.language, second.language) == ("sh", "sh")
    lines = [line for line in README.text.splitlines() if line.startswith("python3 -m venv")]
    assert [f"{line}\n" for line in lines] == [first.text, second.text]
    assert lines[0].endswith("opcert certify")
    # CI installs what it has built in the first line, and lints between the parts of the second.
    assert '"$(readme_line 1 | ' in (ROOT / ".ci" / "run").read_text()
    assert (ROOT / ".ci" / "run").read_text().count('"$(readme_line 2 | ') == 2


def test_the_readme_states_the_schema_and_the_format() -> None:
    assert f"Certificates have schema {SCHEMA}, suites format {FORMAT}." in README.text


def test_the_functions_of_expressions_are_all_listed() -> None:
    listed = set(re.findall(r"^\| [^|]+ \| `(\w+)\(", TEXT, re.MULTILINE))
    functions = {*LAW_FUNCTIONS, *TENSOR_BUILDERS, *TENSOR_CHANGES, *FORMULA_FUNCTIONS}
    assert listed == functions - set(dir(builtins))


def test_the_roles_are_all_listed_with_their_keys() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ((?:`\w+`(?:, )?)+) \|$", TEXT, re.MULTILINE)
    listed = {role: set(re.findall(r"\w+", keys)) for role, keys in rows if role in ROLES}
    # The words of a mode and the default of a flag are keys of every attribute; keys of data that
    # a list of tensors does not have take no value.
    known = {
        name: role.model_fields.keys() - Role.model_fields.keys() for name, role in ROLES.items()
    }
    own = {"mode": {"one_of"}, "flag": {"default"}, "tensors": {"along", "empty"}}
    own |= {"matrices": {"times", "transposed", "empty"}, "filter": {"windows", "type_of"}}
    assert listed == {**known, **own}


def test_a_new_operator_takes_a_spec_of_few_lines() -> None:
    specs = [block.text for block in BLOCKS if block.file.endswith("Reverse-1.yaml")]
    assert specs
    assert all(len(spec.splitlines()) <= 25 for spec in specs)


def test_the_declaration_of_support_is_valid() -> None:
    (text,) = (block.text for block in BLOCKS if block.text.startswith("support = "))
    namespace: dict[str, object] = {}
    exec(text, namespace)  # noqa: S102 -- the guide's own
    declared = checked_support(SimpleNamespace(support=namespace["support"]), core_suite()).declared
    assert declared is not None
    assert declared["openvino/Broadcast-1"].excluded == ["broadcast-1/explicit-mode"]


def test_the_tables_of_faults_are_marked_and_have_each_operator() -> None:
    tables = re.findall(r"--markdown: begin -->\n(.+?)<!-- end -->", TEXT, re.DOTALL)
    assert tables
    for table in tables:
        operators = re.findall(r"^\| (\w+/\S+) \|", table, re.MULTILINE)
        assert operators == [*core_suite().operators]


def first_cells(guide: str, heading: str) -> list[str]:
    """Return the words in code of the first cells below a heading, up to the next one."""
    cells = re.findall(r"^\| ([^|]+) \|", Guide(ROOT / guide).section(heading), re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def test_the_statuses_and_kinds_are_all_listed() -> None:
    listed = first_cells("generator/backends/certificates/README.md", "How a case is judged")
    assert sorted(listed) == sorted([*STATUSES, *FAILURE_KINDS])


def test_the_keys_of_an_index_are_all_listed() -> None:
    guide = "generated/README.md"
    assert sorted(first_cells(guide, "The index")) == sorted(Index.model_fields)
    assert sorted(first_cells(guide, "A case")) == sorted(
        field.name for field in fields(IndexedCase)
    )
    forms = (StoredArray, ListedArray, GeneratedArray)
    arrays = {field.name for form in forms for field in fields(form)}
    assert sorted(first_cells(guide, "An array")) == sorted(arrays)


def test_the_layouts_and_element_types_are_all_listed() -> None:
    guide = "generated/README.md"
    assert sorted(first_cells(guide, "Memory layouts")) == sorted(
        field.name for field in fields(Layout)
    )
    protocol = Guide(ROOT / "generator" / "backends" / "examples" / "README.md").text
    assert set(re.findall(r"`(\w+)`", protocol.partition("### Types")[2])) >= {*ELEMENT_TYPES}


def test_the_packages_are_listed_in_the_order_of_their_imports() -> None:
    assert first_cells("generator/README.md", "The packages") == ROOMS
