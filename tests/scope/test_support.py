"""Declared support: misspelt operators are errors, operators of another suite are not."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from opcert.errors import BackendError
from opcert.suite.format import index_types_of, input_types_of
from opcert.suite.support import (
    CallProperties,
    OperatorScope,
    checked_support,
    misspelt_operators,
    unknown_operators,
)
from tests.command_line import opcert
from tests.faults.finding import core_suite
from tests.suite_of_levels import OPERATOR, write_specs

SLICE = "openvino/Slice-8"
BACKEND = """from tests.wrong_backends import Right
class Declares(Right):
    support = {{name: {{"how": "native"}} for name in {names}}}
"""


def of_types(**types: str) -> CallProperties:
    """Return a call of which only the types of its inputs matter."""
    return CallProperties("f32", 1, frozenset(), types, ())


def test_the_types_of_a_variadic_first_input_are_no_index_types() -> None:
    types = {"inputs[0]": "f32", "inputs[1]": "f32", "axis": "i64"}
    assert index_types_of(types) == {"i64"}
    assert input_types_of(types, {"to": "f16", "mode": "floor"}) == {
        "inputs": "f32",
        "axis": "i64",
        "to": "f16",
    }


def test_types_are_declared_by_input() -> None:
    scope = OperatorScope(input_types={"indices": ["i32", "i64"]})
    assert scope.exclusion_reason(of_types(indices="u8")) == "indices of type u8"
    assert scope.exclusion_reason(of_types(indices="i32", axis="u8")) is None
    assert scope.exclusion_reason(of_types(axis="u8")) is None


def test_inputs_are_declared_to_share_a_type() -> None:
    scope = OperatorScope(same_types=[["start", "stop", "axes"]])
    mixed = of_types(start="i32", stop="i32", axes="i64")
    assert scope.exclusion_reason(mixed) == "different types of start i32, stop i32, axes i64"
    assert scope.exclusion_reason(of_types(start="i8", stop="i8", data="f32")) is None


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"input_types": {"strat": ["i64"]}}, "unknown input of openvino/Slice-8 'strat'; did"),
        ({"same_types": [["start", "stopp"]]}, "unknown input of openvino/Slice-8 'stopp'; did"),
        ({"input_types": {"start": ["i46"]}}, "unknown type of openvino/Slice-8 'i46'; did you"),
        ({"same_types": ["start"]}, "support: openvino/Slice-8.same_types.0: found"),
        ({"types": ["float32"]}, "unknown type of openvino/Slice-8 'float32'"),
        ({"types": "f32"}, "found 'f32'"),
        ({"ranks": 4}, "found 4"),
        ({"excluded": ["slice-8/backward"]}, "did you mean 'slice-8/backwards'"),
        ({"type": ["f32"]}, "did you mean 'types'"),
        ({"how": "natvie: x"}, "unknown how of openvino/Slice-8 'natvie'; did you mean 'native'"),
        (3, "found 3"),
    ],
)
def test_names_and_forms_have_to_be_known(declared: object, message: str) -> None:
    scope = {"how": "native", **declared} if isinstance(declared, dict) else declared
    backend = SimpleNamespace(support={SLICE: scope})
    with pytest.raises(BackendError) as caught:
        checked_support(backend, core_suite())
    assert message in str(caught.value)


def declaring(folder: Path, *names: str) -> str:
    """Return a backend that declares the operators of these names."""
    path = folder / "declares.py"
    path.write_text(BACKEND.format(names=names))
    return f"{path}:Declares"


@pytest.mark.parametrize(
    "name",
    [
        "openvino/Slcie-8",
        "openvino/Slice8",
        "openvino/Slice",
        "openvino/slice-8",
        "OpenVINO/Slice-8",
        "openvno/Slice-8",
    ],
)
def test_a_misspelt_operator_is_an_error_with_the_intended_one(name: str) -> None:
    backend = SimpleNamespace(support={name: {"how": "native"}})
    with pytest.raises(BackendError) as caught:
        checked_support(backend, core_suite())
    assert str(caught.value) == (f"support: unknown operator '{name}'; did you mean '{SLICE}'?")


@pytest.mark.parametrize("name", ["vendor/Reverse-1", "openvino/Slice-9", "openvino/GatherTree-1"])
def test_an_operator_of_another_suite_or_version_is_not_misspelt(name: str) -> None:
    assert misspelt_operators([name], core_suite()) == {}
    assert unknown_operators([name, SLICE], core_suite()) == [name]


def test_an_operator_of_the_shipped_specs_alone_is_neither_misspelt_nor_unknown() -> None:
    assert misspelt_operators(["openvino/Split-1"], core_suite()) == {}
    assert unknown_operators(["openvino/Split-1", SLICE], core_suite()) == []


def test_an_operator_that_is_declared_itself_is_not_what_another_name_means() -> None:
    assert misspelt_operators(["openvino/GatherS-8"], core_suite())
    assert misspelt_operators(["openvino/GatherS-8", "openvino/Gather-8"], core_suite()) == {}


def test_certify_exits_2_and_writes_nothing_where_a_declaration_is_misspelt(tmp_path: Path) -> None:
    backend = declaring(tmp_path, "openvino/Slcie-8")
    result = opcert("certify", "--backend", backend, "--out", tmp_path / "out", exits=2)
    (line,) = result.stderr.splitlines()
    assert "unknown operator 'openvino/Slcie-8'; did you mean 'openvino/Slice-8'?" in line
    assert not (tmp_path / "out").exists()


def test_an_operator_that_no_suite_has_is_reported_and_decides_nothing(tmp_path: Path) -> None:
    backend, out = declaring(tmp_path, SLICE, "vendor/Reverse-1"), tmp_path / "out"
    selected = ("--operator", SLICE, "--case", "*example*")
    result = opcert("certify", "--backend", backend, *selected, "--out", out, exits=0)
    text = "the backend declares operators that neither this suite nor the shipped specs have"
    warning = f"opcert: warning: {text}: vendor/Reverse-1"
    assert warning in result.stderr.splitlines()
    verified = opcert("verify", out, exits=0)
    assert verified.stderr.splitlines() == [warning]


def test_operators_of_the_core_suite_are_known_with_any_suite(tmp_path: Path) -> None:
    write_specs(tmp_path)
    backend = declaring(tmp_path, SLICE, OPERATOR)
    result = opcert("certify", "--backend", backend, "--specs", tmp_path, "--in-process")
    assert result.exit_code in (0, 1)
    assert "declares operators" not in result.stderr
