"""The list of backends, which imports no runtime."""

from importlib.metadata import EntryPoint, PackageNotFoundError

import pytest

from opcert.backends.lookup import BUILT_IN_BACKENDS, ENTRY_POINT_GROUP
from opcert.commands import backends
from opcert.commands.backends import available_backends, packages_of_extra
from opcert.specification.files import shipped_operators
from tests.command_line import python


def test_every_built_in_backend_is_listed() -> None:
    assert [entry.name for entry in available_backends()][: len(BUILT_IN_BACKENDS)] == list(
        BUILT_IN_BACKENDS
    )


def test_an_extra_has_the_name_of_its_backend() -> None:
    assert packages_of_extra("torch") == ["torch"]
    assert packages_of_extra("array-api") == ["array-api-compat", "array-api-strict"]
    assert packages_of_extra("reference") == []


def test_operators_are_native_composed_or_unsupported() -> None:
    by_name = {entry.name: entry for entry in available_backends()}
    assert by_name["jax"].how["openvino/Slice-8"] == "native"
    assert by_name["torch"].how["openvino/Gather-8"] == "composed"
    assert by_name["torch"].how.keys() == set(shipped_operators())
    assert by_name["reference"].how == {}


def test_undeclared_operators_are_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    support = {"openvino/Slice-8": {"how": "native"}}
    monkeypatch.setattr("opcert.backends.jax.Jax.support", support)
    how = next(entry for entry in available_backends() if entry.name == "jax").how
    assert how["openvino/Slice-8"] == "native"
    assert how["openvino/Gather-8"] == "unsupported"


@pytest.mark.parametrize(
    ("builds", "packages"),
    [
        ({}, "not installed: pip install 'opcert[torch]'"),
        ({"torch": ["torch-xpu"]}, "torch 2.0 (torch-xpu)"),
    ],
)
def test_a_missing_package_can_be_installed_unless_a_build_has_another_name(
    builds: dict[str, list[str]], packages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(package: str) -> str:
        if package == "torch":
            raise PackageNotFoundError(package)
        return "2.0"

    monkeypatch.setattr(backends, "version", version)
    monkeypatch.setattr(backends, "packages_distributions", lambda: builds)
    backend = next(entry for entry in available_backends() if entry.name == "torch")
    assert backend.packages == packages


def test_entry_points_are_listed_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("vendor", "no_such_module:Backend", ENTRY_POINT_GROUP)
    monkeypatch.setattr(backends, "registered_backends", lambda: {"vendor": point})
    last = list(available_backends())[-1]
    assert (last.name, last.packages) == ("vendor", "no_such_module:Backend")


def test_no_runtime_is_imported() -> None:
    program = (
        "import sys; from opcert.commands.backends import available_backends; "
        "list(available_backends()); "
        "print([m for m in ('torch', 'jax', 'array_api_compat') if m in sys.modules])"
    )
    done = python("-c", program)
    assert done.stdout == "[]\n", done.stderr
