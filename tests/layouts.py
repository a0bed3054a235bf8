"""One layout of each kind, by name, for arrays of any shape."""

from opcert.arrays.layouts import C_ORDER, Layout

_ALL = tuple(range(8))
LAYOUTS = {
    "c": C_ORDER,
    "fortran": Layout(order=_ALL[::-1]),
    "permuted": Layout(order=(0, 1, 3, 2)),
    "reversed": Layout(backwards=_ALL),
    "first_reversed": Layout(backwards=(0,)),
    "gapped": Layout(gaps=(1,)),
    "pitched": Layout(gaps=(0, 1)),
    "offset": Layout(offset=3),
    "repeated": Layout(repeated=_ALL),
    "repeated_row": Layout(repeated=(0,)),
    "several": Layout(_ALL[::-1], (1,), (), (1, 2), 5),
}
