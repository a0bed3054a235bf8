"""Faults whose trigger is a combination of levels, and the condition that a diagnosis should find.

The table has the faults that fail in every call with some levels, and in no other call. Others
are no combination of levels, for one of these reasons:

- Where they fail depends on a relation that no factor states: a row of more than 16 elements, a
  part of an offset past 7 bits, an index that a clamped bound selects (`tail-`, `offset-in-`,
  `count-in-`, most of clamping, sign and index arithmetic).
- They leave a rule unchecked for some of its violations only (`accepts-`).
- They depend on earlier calls, on memory or on addresses (state, reused buffers, aliasing, written
  inputs, memory order), which one call after the other in this test does not show.
- They change bits that only some values have, as signalling NaNs (conversion of floats).
"""

import re
from collections.abc import Callable, Iterator

from opcert.cases.integer_levels import range_of
from opcert.diagnosis.table import Condition
from tests.faults.catalogue import FAULTS
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT

_DATA = {DML: "InputTensor", **dict.fromkeys((BROADCAST, GATHER, SLICE, SPLIT), "data")}
_TYPES = "bool|boolean|bf16|f16|f32|f64|f8e4m3|f8e5m2|i8|i16|i32|i64|u8|u16|u32|u64"
_SPELT = {"bool": "boolean"}


# What a neighbour can change of an argument so that a plan without it is wrong.
_RESPECTS = (
    *("", "-value", "-position", "-place", "-direction", "-given", "-number"),
    *("-rank", "-extents", "-size"),
)


def _ranks(least: int | str) -> tuple[str, ...]:
    return tuple(map(str, range(int(least), 9)))


# What follows from the name of a fault; `x` and `y` are its groups, `data` is the first input.
_BY_NAME: dict[str, Callable[[str, str, str], Condition]] = {
    r"rank-(\d)()-(?:rejected|declined)": lambda data, x, _: ((f"{data} rank", _ranks(x)),),
    r"rank-past-(\d)()-rejected": lambda data, x, _: ((f"{data} rank", _ranks(int(x) + 1)),),
    r"displaced-at-rank-(\d)()": lambda data, x, _: ((f"{data} rank", (x,)),),
    r"displaced-of-(\d)-by-(\d)": lambda data, x, y: (
        (f"{data} rank", (x,)),
        ("indices rank", (y,)),
    ),
    r"displaced-from-(\d)-to-(\d)": lambda data, x, y: (
        (f"{data} rank", (x,)),
        ("output rank", (y,)),
    ),
    rf"({_TYPES})()-(?:rejected|declined|as-\w+|through-\w+)": lambda data, x, _: (
        (f"{data} type", (_SPELT.get(x, x),)),
    ),
    r"plan-without-(\w+)()": lambda _, x, __: (
        ("neighbour", tuple(f"other-{x}{respect}" for respect in _RESPECTS)),
    ),
}
_LONG = ("17 to 32", "33 to 63", "64 to 127", "128 to 255", "256", "257 to 1,023")
_ONE_OR_MORE = tuple(dict.fromkeys(map(range_of, range(1, 1 << 17))))
_SELECTING = ("one of an axis", "some of an axis", "all of an axis")
_NAMED: dict[str, Condition] = {
    "gather-8/indices-rank-5": (("indices rank", _ranks(5)),),
    "gather-8/output-rank-8": (("output rank", ("8",)),),
    "broadcast-1/output-rank-8": (("output rank", ("8",)),),
    "broadcast-1/explicit-output-rank-8": (("mode value", ("explicit",)), ("output rank", ("8",))),
    "broadcast-1/scalar-to-rank-5": (("data rank", ("0",)), ("output rank", _ranks(5))),
    "broadcast-1/mode-passed": (("mode value", ("numpy",)),),
    "broadcast-1/narrow-target-rejected": (("target_shape type", ("i8", "u8")),),
    "broadcast-1/new-zero-rejected": (
        ("data elements", _ONE_OR_MORE),
        ("target_shape signs", ("with 0",)),
    ),
    "gather-8/no-indices-rejected": (("indices elements", ("0",)),),
    "gather-8/no-indices-no-rank": (("indices elements", ("0",)),),
    "gather-8/rank-lost": (("output elements", ("0",)),),
    "slice-8/type-lost": (("output elements", ("0",)),),
    "slice-8/unsigned-indices-rejected": (("start type", ("u64",)),),
    "slice-8/start-at-minus-n-empty": (
        ("start value", ("-n",)),
        ("output length", _SELECTING),
    ),
    "slice-8/start-at-n-empty-backwards": (
        ("start value", ("n",)),
        ("output length", _SELECTING),
    ),
    "variadic-split-1/axis-minus-rank": (
        ("data axis", ("first",)),
        ("axis region", ("from -n to -1",)),
    ),
    "variadic-split-1/one-element-axis-rejected": (("axis rank", ("1",)),),
    "variadic-split-1/empty-rest-dropped": (
        ("split_lengths value", ("-1",)),
        ("output length", ("none of an axis",)),
    ),
    "variadic-split-1/seventeen-parts": (("split_lengths elements", _LONG),),
    "broadcast-1/accepts-mode-known-any": (("violated rule", ("broadcast-1/mode-known",)),),
    "dml-split/accepts-output-count-positive-zero": (
        ("violated rule", ("dml-split/output-count-positive",)),
    ),
    "broadcast-1/accepts-target-not-negative-explicit": (
        ("violated rule", ("broadcast-1/target-not-negative",)),
        ("mode value", ("explicit",)),
    ),
    "slice-8/accepts-step-nonzero-without-axes": (
        ("violated rule", ("slice-8/step-nonzero",)),
        ("axes given", ("omitted",)),
    ),
}


def triggers() -> Iterator[tuple[str, Condition]]:
    """Yield each fault whose trigger is a combination of levels, with it."""
    for name, fault in FAULTS.items():
        if name in _NAMED:
            yield name, _NAMED[name]
        for pattern, condition in _BY_NAME.items():
            if match := re.fullmatch(f"[^/]+/{pattern}", name):
                yield name, condition(_DATA[fault.operator], *match.groups())
