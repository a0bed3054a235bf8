"""The command that makes the run of a certificate again."""

from typing import Any

import pytest

from opcert.certificate.certificate import Certificate, ClaimEntry, WaiversEntry
from opcert.report.side_by_side import command_line
from opcert.suite.claims import ClaimContent
from opcert.verdicts.waivers import Waiver
from tests.faults.finding import core_suite
from tests.made_certificate import DIGEST, certificate


def named(source: str | None = "openvino", **fields: Any) -> Certificate:
    """Return the certificate of a backend that was looked up by name, on the core suite."""
    made = certificate([], ["openvino/Gather-8"])
    return made.replace(
        suite=core_suite().identity,
        backend=made.backend.model_copy(update={"source": source, **fields}),
        run=made.run.model_copy(update={"isolated": True, "timeout": 60.0}),
    )


def test_only_what_differs_from_the_defaults_is_an_option() -> None:
    assert command_line(named()) == "opcert certify --backend openvino"


def test_what_a_shell_would_interpret_is_quoted() -> None:
    of = named("driver:./a b", options={"device": "GPU.0", "n": 3})
    assert command_line(of) == (
        "opcert certify --backend 'driver:./a b' --backend-option device=GPU.0 --backend-option n=3"
    )


@pytest.mark.parametrize(
    ("field", "changes", "option"),
    [
        ("selection", {"operator": "openvino/*"}, "--operator 'openvino/*'"),
        ("selection", {"case": "*/axis-*"}, "--case '*/axis-*'"),
        ("selection", {"feature_level": "2_1"}, "--feature-level 2_1"),
        ("run", {"timeout": 2.5}, "--timeout 2.5"),
        ("run", {"memory": 64 << 20}, "--memory 64"),
        ("run", {"isolated": False, "timeout": None}, "--in-process"),
        ("suite", {"profile": "full", "digest": DIGEST}, "--profile full"),
        ("suite", {"seed": 7, "digest": DIGEST}, "--suite SUITE"),
        ("suite", {"specs": {"acme/Own-1": DIGEST}, "digest": DIGEST}, "--suite SUITE"),
        # Without --operator, a run is of the core operators.
        ("suite", {"specs": {"openvino/Relu-1": DIGEST}, "digest": DIGEST}, "--suite SUITE"),
    ],
)
def test_an_option_says_what_was_asked_for(
    field: str, changes: dict[str, Any], option: str
) -> None:
    of = named()
    of = of.replace(**{field: getattr(of, field).model_copy(update=changes)})
    assert command_line(of) == f"opcert certify --backend openvino {option}"


def test_a_claim_and_waivers_are_named_as_next_to_the_certificate() -> None:
    waiver = Waiver(case="*", reason="r", owner="o", link="l", expires="2030-01-01")
    of = named().replace(
        claim=ClaimEntry(sha256=DIGEST, content=ClaimContent(operators={})),
        waivers=WaiversEntry(sha256=DIGEST, content=(waiver,)),
    )
    assert command_line(of).endswith("--claim claim.yaml --waivers waivers.yaml")


def test_a_backend_that_was_passed_as_an_object_has_a_call_of_python() -> None:
    of = named(None)
    of = of.replace(selection=of.selection.model_copy(update={"case": "*/a"}))
    assert command_line(of) == "opcert.certify(backend, case='*/a')"
