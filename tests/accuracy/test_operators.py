"""Operators that compute: their suites pass honest backends, and name the arithmetic of others."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert import certify
from opcert.arrays.element_types import highest, type_name
from opcert.certificate.certificate import Certificate
from opcert.suite.suite import Suite
from opcert.verification import verify_certificate
from tests import shipped
from tests.accuracy.honest import cut
from tests.at_length import at_length
from tests.command_line import opcert
from tests.faults.finding import failure_of
from tests.handed_in import changed
from tests.shipped import SPECS, spec

# Those whose outputs have the type of their inputs.
COMPUTED = [
    name
    for name in SPECS
    if any(o.computed and o.type == spec(name).spec.inputs[0].type for o in spec(name).spec.outputs)
]
CERTIFY = ("certify", "--operator", "openvino/Exp-1", "--profile", "smoke")
# Those whose results depend on all bits of their inputs; others choose or compare elements.
CONTINUOUS = ["Exp-1", "ReduceSum-1", "Add-1", "MatMul-1", "Multiply-1", "Softmax-8", "Tanh-1"]


class Changed:
    """The reference with other inputs or outputs of the type f32."""

    version = "1"

    def __init__(self, name: str, *, before: int = 24, after: int = 24) -> None:
        self.name = f"{before} bits of inputs, {after} of outputs"
        self._function, self._before, self._after = spec(name).reference, before, after

    def run(
        self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> list[Any]:
        del operator
        arguments = {key: self._cut(array, self._before) for key, array in inputs.items()}
        with np.errstate(all="ignore"):
            outputs = self._function(**arguments, **attributes)
        return [self._cut(output, self._after) for output in outputs]

    @staticmethod
    def _cut(array: Any, bits: int) -> Any:
        if array.dtype != np.float32:
            return array
        return cut(array.copy().reshape(-1), bits).reshape(array.shape)


def suite(name: str) -> Suite:
    return shipped.suite(spec(name).spec.operator)


def certified(backend: object, on: Suite, **settings: Any) -> Certificate:
    return certify(backend, on, isolated=False, case="*/drawn-f32*", **settings)  # type: ignore[arg-type]


def kinds(certificate: Certificate) -> Counter[str | None]:
    return Counter(v.kind for v in certificate.verdicts if v.status == "fail")


@pytest.mark.parametrize("name", at_length(CONTINUOUS, 7))
def test_fewer_bits_are_within_a_looser_arithmetic(name: str) -> None:
    on = suite(name)
    assert not kinds(certified(Changed(name), on))
    certificate = certified(Changed(name, before=8), on)
    assert kinds(certificate).keys() == {"accuracy"}
    (of_operator,) = certificate.accuracy.values()
    assert of_operator["f32"].within in (("bf16 inputs",), ("bf16 stored",))


@pytest.mark.parametrize("name", at_length(COMPUTED, 10))
def test_outputs_of_eight_bits_fail(name: str) -> None:
    operator = spec(name).spec.operator
    cases = [case for case in suite(name).cases if "/drawn-f32" in case]
    assert failure_of(Changed(name, after=8), suite(name), operator, cases)


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    path, operator = tmp_path / "claim.yaml", "openvino/Multiply-1"
    path.write_text(
        f"operators:\n  {operator}: {{}}\narithmetic:\n  {operator}: {{f32: bf16 inputs}}\n"
    )
    return path


def test_a_claimed_arithmetic_decides_in_its_run_alone(claim: Path) -> None:
    on, narrow = suite("Multiply-1"), Changed("Multiply-1", before=8)
    for _ in range(2):
        assert not kinds(certified(narrow, on, claim=claim))
        assert kinds(certified(narrow, on)).keys() == {"accuracy"}


def test_a_claim_that_is_edited_away_is_a_finding(claim: Path) -> None:
    on = suite("Multiply-1")
    loose = certified(Changed("Multiply-1", before=8), on, claim=claim)
    assert not verify_certificate(loose, on)
    on.claim({})
    found = verify_certificate(changed(loose, lambda data: data.update(claim=None)), on)
    assert "expected one within standard, which is claimed" in str(found[0])


def test_the_accuracy_of_a_case_is_of_its_output() -> None:
    on = suite("Multiply-1")
    right = certified(Changed("Multiply-1"), on)
    stated = {v.case: v.evidence and v.evidence.accuracy for v in right.verdicts}
    case = next(case for case, accuracy in stated.items() if accuracy is not None)

    def omit(data: Any) -> None:
        next(v for v in data["verdicts"] if v["case"] == case)["evidence"] = None

    def enlarge(data: Any) -> None:
        verdict = next(v for v in data["verdicts"] if v["case"] == case)
        verdict["evidence"]["accuracy"]["open"] += 1

    assert not verify_certificate(right, on)
    for change, text in ((omit, "missing accuracy of"), (enlarge, "found the accuracy of")):
        found = verify_certificate(changed(right, change), on)
        assert [f.place for f in found if text in f.text] == [f"verdicts, {case}"]


NARROW = """
import ml_dtypes, numpy as np

class Backend:
    name, version = "narrow", "1"

    def run(self, operator, inputs, attributes):
        a, b = (x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in inputs.values())
        output = np.asarray(a * b)
        return [output + np.float32(output.size == 6)]
"""


def test_a_certificate_is_verified_with_the_arithmetic_that_it_claims(
    tmp_path: Path, claim: Path
) -> None:
    (tmp_path / "narrow.py").write_text(NARROW)
    backend = ("--backend", f"{tmp_path / 'narrow.py'}:Backend")
    of_run = ("--operator", "openvino/Multiply-1", "--case", "*/drawn-f32*")
    result = opcert("certify", *backend, *of_run, "--claim", claim, "--out", tmp_path / "results")
    assert result.exit_code == 1, result.output
    result = opcert("verify", tmp_path / "results", *backend, "--rerun", 9, "--seed", 1)
    assert result.exit_code == 0, result.output


class Converting:
    """The reference of Convert, and what it makes of f32 changed by a function of both arrays."""

    name, version = "converting", "1"

    def __init__(self, change: Callable[[Any, Any], Any]) -> None:
        self._change = change

    def run(
        self, operator: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> list[Any]:
        del operator
        data = inputs["data"]
        (output,) = spec("Convert-1").reference(data, **attributes)
        if data.dtype == np.float32:
            with np.errstate(all="ignore"):
                output = np.asarray(self._change(data, output)).astype(output.dtype)
        return [output]


def is_subnormal(data: Any) -> Any:
    return (np.abs(data) < np.finfo(np.float32).tiny) & (data != 0)


def overflows(data: Any, output: Any) -> Any:
    return np.isfinite(data) & ~np.isfinite(output)


def saturated(data: Any, output: Any) -> Any:
    if output.dtype.kind in "iub":
        return output
    greatest = float(highest(type_name(output.dtype)))
    return np.where(overflows(data, output), np.copysign(greatest, data), output)


def rounded_away(data: Any, output: Any) -> Any:
    halves = data.astype(np.float64) + np.copysign(0.5, data)
    return np.trunc(halves) if output.dtype.kind in "iu" else output


def rounded_down(data: Any, output: Any) -> Any:
    return np.floor(data) if output.dtype.kind in "iu" else output


@pytest.mark.parametrize(
    ("change", "is_right"),
    [
        (saturated, True),
        (lambda x, y: np.where(overflows(x, y), np.nan, y), False),
        (lambda x, y: np.where(overflows(x, y), -y, y), False),
        (lambda x, y: np.where(is_subnormal(x) & (y.dtype != bool), 0, y), True),
        (lambda x, y: np.where(is_subnormal(x), np.copysign(1, x), y), False),
        (lambda x, y: np.where(x == 0, 0, y), False),
        (rounded_away, True),
        (rounded_down, False),
    ],
)
def test_what_a_conversion_may_do(change: Callable[[Any, Any], Any], is_right: bool) -> None:
    certificate = certified(Converting(change), suite("Convert-1"))
    assert (not kinds(certificate)) == is_right


def test_a_claim_of_a_looser_arithmetic_lets_it_conform(tmp_path: Path) -> None:
    claim = tmp_path / "claim.yaml"
    text = "arithmetic: {openvino/Exp-1: {f32: bf16 inputs}}\noperators: {openvino/Exp-1: {}}\n"
    claim.write_text(text)
    on = suite("Exp-1")
    assert not kinds(certified(Changed("Exp-1", before=8), on, claim=claim))
    claim.write_text(text.replace("bf16 inputs", "correctly rounded"))
    assert kinds(certified(Changed("Exp-1"), suite("Exp-1"), claim=claim)).keys() == {"accuracy"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{openvino/Exp-1: {f32: wid}}", "unknown arithmetic 'wid'; did you mean 'wide'?"),
        (
            "{openvino/Exp-1: {i8: wide}}",
            "no arithmetic of type 'i8'; expected bf16, f16, f32, f64",
        ),
        ("{openvino/Exp-2: {f32: wide}}", "operator 'openvino/Exp-2' is not claimed; did you mean"),
    ],
)
def test_a_wrong_claim_is_one_mistake(tmp_path: Path, text: str, message: str) -> None:
    claim = tmp_path / "claim.yaml"
    claim.write_text(f"arithmetic: {text}\noperators: {{openvino/Exp-1: {{}}}}\n")
    result = opcert(*CERTIFY, "--claim", claim, exits=2)
    assert message in result.stderr


def test_without_python_flint_a_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opcert.accuracy.balls", raising=False)
    monkeypatch.setitem(sys.modules, "flint", None)
    result = opcert(*CERTIFY, exits=2)
    assert "pip install 'opcert[arithmetic]'" in result.stderr
