"""Configurations: the values that `all` means, and a certificate for each."""

from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opcert import configurations
from opcert.backends import lookup
from opcert.backends.lookup import ENTRY_POINT_GROUP, load
from opcert.certificate.file import read_certificate
from opcert.errors import BackendError
from tests.command_line import MISBEHAVING, interrupts, opcert, opcert_program, python
from tests.isolation.configured import Several

FILE = str(Path(__file__).with_name("configured.py"))
CASE = "dml-split/axis-range*"


@pytest.mark.parametrize("isolated", [None, False])
def test_all_means_each_value(isolated: bool | None) -> None:
    found = configurations(f"{FILE}:Several", {"device": "all", "mode": "m"}, isolated)
    assert [each.name for each in found] == ["device=CPU", "device=GPU.0", "device=a%2Fb"]
    assert [each.options for each in found] == [
        {"device": device, "mode": "m"} for device in ("CPU", "GPU.0", "a/b")
    ]


def test_all_of_several_options_means_each_of_each() -> None:
    found = configurations(f"{FILE}:Several", {"level": "all", "device": "all"}, isolated=False)
    assert len({each.name for each in found}) == 6
    assert found[1].name == "level=0,device=GPU.0"
    assert found[1].options == {"level": 0, "device": "GPU.0"}


@pytest.mark.parametrize(
    "options", [{}, {"device": "CPU"}, {"mode": "all"}, {"mode": object()}, {"device": ["all"]}]
)
def test_other_options_are_one_configuration(options: dict[str, Any]) -> None:
    (found,) = configurations(f"{FILE}:Several", options)
    assert (found.name, found.options) == ("", options)


def test_a_factory_may_have_configurations() -> None:
    found = configurations(f"{FILE}:made", {"device": "all"})
    assert [each.name for each in found] == ["device=CPU", "device=GPU.0"]


def test_an_entry_point_may_have_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", "tests.isolation.configured:Several", ENTRY_POINT_GROUP)
    point_of = SimpleNamespace(name="theirs", load=lambda: Several, value=point.value)
    monkeypatch.setattr(lookup, "registered_backends", lambda: {"theirs": point_of})
    assert len(configurations("theirs", {"device": "all"}, isolated=False)) == 3


def test_the_run_of_an_unknown_backend_reports_the_error() -> None:
    assert len(configurations("no_such_module:Backend", {"device": "all"})) == 1
    result = opcert("certify", "--backend", "openvin", "--backend-option", "feed=all", exits=2)
    assert "did you mean 'openvino'?" in result.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoMapping", "expected a mapping of options to lists of values; found list"),
        ("NoList", "distinct, printable values for option 'device'"),
        ("NoValues", "distinct, printable values for option 'device'"),
        ("Alike", "distinct, printable values for option 'device'"),
        ("AllAgain", "distinct, printable values for option 'device'"),
    ],
)
def test_malformed_configurations_are_an_error(name: str, message: str) -> None:
    backend = ("--backend", f"{FILE}:{name}", "--backend-option", "device=all")
    result = opcert("certify", *backend, exits=2)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_load_needs_one_configuration() -> None:
    with pytest.raises(BackendError, match="choose one: device=CPU, device="):
        load(f"{FILE}:Several", device="all")
    assert load(f"{FILE}:Several", mode="all").version == "1 CPU 0 all"


def test_explore_needs_one_configuration() -> None:
    result = opcert(
        "explore", "--backend", f"{FILE}:Several", "--backend-option", "device=all", exits=2
    )
    text = "device=all means several configurations; choose one: device=CPU, device=GPU.0, "
    assert text in result.stderr


def test_each_configuration_has_a_certificate_and_the_worst_exit_code_counts(
    tmp_path: Path,
) -> None:
    arguments = ("--backend", f"{FILE}:Several", "--backend-option", "device=all", "--case", CASE)
    result = opcert("certify", *arguments, "--out", tmp_path, exits=2)
    assert "ValueError: no such device" in result.stderr
    assert result.stdout.splitlines()[-1] == (
        "3 configurations: device=CPU conformant; device=GPU.0 not conformant; "
        "device=a%2Fb invalid input"
    )
    assert read_certificate(tmp_path / "device=CPU" / "certificate.json").conformant
    wrong = read_certificate(tmp_path / "device=GPU.0" / "certificate.json")
    assert not wrong.conformant
    assert wrong.backend.options == {"device": "GPU.0"}
    assert wrong.backend.version == "1 GPU.0 0 some"


def test_without_out_each_conclusion_is_printed() -> None:
    arguments = ("--backend", f"{FILE}:made", "--backend-option", "device=all", "--case", CASE)
    result = opcert("certify", *arguments, "--in-process", exits=1)
    assert "\ndevice=GPU.0:\n" in result.stdout
    assert result.stdout.count("CONFORMANT") == 2


@pytest.mark.slow
def test_an_interrupt_ends_all_configurations_and_each_resumes(tmp_path: Path) -> None:
    call = (*interrupts(tmp_path), "--backend-option", "which=all")
    arguments = (*call, "--out", tmp_path / "out")
    code, stdout, _ = opcert_program("certify", *arguments)
    assert code == 130
    summary = (
        "3 configurations: which=one conformant; which=other interrupted; which=last not started"
    )
    assert stdout.splitlines()[-1] == summary
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        "which=one",
        "which=other",
    ]
    before = (tmp_path / "out" / "which=one" / "certificate.json").read_bytes()
    opcert("certify", *arguments, "--resume", exits=0)
    report = (tmp_path / "out" / "side-by-side.html").read_text("utf-8")
    assert "3 certificates side by side" in report
    found = {
        name: read_certificate(tmp_path / "out" / f"which={name}" / "certificate.json")
        for name in ("one", "other", "last")
    }
    assert [len(each.run.resumed) for each in found.values()] == [0, 1, 0]
    assert (tmp_path / "out" / "which=one" / "certificate.json").read_bytes() == before


def test_resuming_needs_a_configuration_that_was_started(tmp_path: Path) -> None:
    backend = ("--backend", f"{MISBEHAVING}:Interrupts", "--backend-option", "which=all")
    result = opcert("certify", *backend, "--out", tmp_path / "out", "--resume", exits=2)
    assert "expected a certificate that `opcert certify --out` wrote" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
def test_reading_configurations_imports_no_runtime() -> None:
    program = (
        "import sys; from opcert import configurations; "
        "print([each.name for each in configurations('openvino', {'feed': 'all'})], "
        "'openvino' in sys.modules)"
    )
    done = python("-c", program)
    assert done.stdout == "['feed=dynamic', 'feed=static', 'feed=constant'] False\n", done.stderr
