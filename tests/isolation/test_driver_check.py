"""opcert driver-check: the result of each step for the author of a driver."""

import pytest

from tests.command_line import driver, opcert


def checked(how: str, *more: str) -> tuple[int, list[str]]:
    """Return the exit code, and the lines that do not begin with ok."""
    done = opcert("driver-check", driver(how).removeprefix("driver:"), *more)
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok ") for line in lines) or done.exit_code
    return done.exit_code, [line for line in lines if not line.startswith("ok ")]


def test_a_right_driver_passes_all_steps() -> None:
    code, (last,) = checked("right")
    assert code == 0
    assert last.startswith("all ")
    assert last.endswith("steps are right")


@pytest.mark.parametrize(
    ("how", "message"),
    [("greets", "b'Welcome!' is not"), ("refuses", "refuses to run: no device 7")],
)
def test_after_a_wrong_handshake_no_call_is_made(how: str, message: str) -> None:
    code, (wrong, last) = checked(how)
    assert code == 1
    assert wrong.startswith("WRONG  handshake: ")
    assert message in wrong
    assert last == "1 of 1 steps are wrong"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("wrong-id", "found protocol: malformed answer: id "),
        ("too-many-bytes", "unexpected output after the answer and its outputs: b'\\x00\\x00"),
        ("abort", "found crash: the process was ended by SIGABRT"),
    ],
)
def test_after_a_wrong_answer_the_other_calls_are_made(how: str, message: str) -> None:
    code, (*wrong, last) = checked(how)
    assert code == 1
    assert wrong
    for line in wrong:
        assert line.startswith("WRONG  call, ")
        assert "expected outputs or rejected or unsupported; " in line
        assert message in line
    assert last.startswith(f"{len(wrong)} of ")
    assert int(last.split()[2]) > 2 * len(wrong)


def test_a_driver_must_exit_when_its_input_ends() -> None:
    code, (wrong, _) = checked("stays")
    assert code == 1
    assert wrong == "WRONG  end of input: expected the driver to exit; it still runs after 0.5 s"


def test_a_call_without_an_answer_hangs_after_the_timeout() -> None:
    code, (wrong, *_) = checked("sleep", "--timeout", "0.5")
    assert code == 1
    assert "found hang: no answer within 0.5 s" in wrong


def test_an_unknown_operator_must_be_unsupported() -> None:
    code, (wrong, *_) = checked("rejects-the-unknown")
    assert code == 1
    assert "an unknown operator with odd attributes: expected unsupported; found rejected" in wrong
