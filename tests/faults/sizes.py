"""Loops that go wrong from some size on, and those that leave their tail unwritten."""

from collections.abc import Callable

from opcert.arrays.element_types import Array
from tests.faults.calls import data, whole
from tests.faults.fault import OPERATORS, Call, Fault, Outputs, Writer

Test = Callable[[Array], bool]


def _without_tail(lanes: int, width: int | None = None) -> Callable[[Call, Outputs], Outputs]:
    """Leave what is past the last full vector of each row at zero."""

    def change(_: Call, outputs: Outputs) -> Outputs:
        for each in outputs:
            inner = each.shape[-1] if each.ndim else 0
            if inner > lanes and width in (None, each.itemsize):
                each[..., inner // lanes * lanes :] = 0
        return outputs

    return change


_TAILS = (
    (16, None, "f32"),
    (64, None, "f32"),
    (16, 1, "u8"),
)
_SIZES: tuple[tuple[str, str, Test, tuple[int, ...]], ...] = (
    ("inner-256", "an inner size past 255", lambda a: a.ndim > 0 and a.shape[-1] > 255, (2, 256)),
    (
        "middle-64",
        "a middle size past 64",
        lambda a: a.ndim > 2 and max(a.shape[1:-1]) > 64,
        (2, 65, 2),
    ),
    ("elements-1024", "more than 1,023 elements", lambda a: a.size > 1023, (32, 32)),
    ("elements-65536", "more than 65,535 elements", lambda a: a.size > 65535, (256, 256)),
)


def _faults(operator: str) -> list[Fault]:
    tail, size = Writer(operator, "loop tail"), Writer(operator, "size threshold")
    found = []
    for lanes, width, of in _TAILS:
        what = f"{lanes}" if width is None else f"{lanes}-of-{width}-bytes"
        text = f"leaves the tail of a row of more than {what.replace('-', ' ')} unwritten"
        row = data(2, lanes + 1, of=of)
        found.append(
            tail.returns(f"tail-{what}", text, _without_tail(lanes, width), whole(operator, row))
        )
    for name, text, test, shape in _SIZES:
        found.append(
            size.spoils(
                name, f"is wrong in outputs of {text}", _any(test), whole(operator, data(*shape))
            )
        )
    return found


def _any(test: Test) -> Callable[[Call, Outputs], bool]:
    return lambda _, outputs: any(each.size > 0 and test(each) for each in outputs)


FAULTS = [fault for operator in OPERATORS for fault in _faults(operator)]
