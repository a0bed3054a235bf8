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

from opcert.diagnosis import Condition
from tests.faults.catalogue import FAULTS
from tests.faults.fault import BROADCAST, DML, GATHER, SLICE, SPLIT

_DATA = {DML: "InputTensor", **dict.fromkeys((BROADCAST, GATHER, SLICE, SPLIT), "data")}
_TYPES = "bool|boolean|bf16|f16|f32|f64|f8e4m3|f8e5m2|i8|i16|i32|i64|u8|u16|u32|u64"
_SPELT = {"bool": "boolean"}


def _ranks(least: int | str) -> tuple[str, ...]:
    return tuple(map(str, range(int(least), 9)))


# What follows from the name of a fault; `x` and `y` are its groups, `data` is the first input.
_BY_NAME: dict[str, Callable[[str, str, str], Condition]] = {
    r"rank-(\d)()-(?:rejected|declined)": lambda data, x, _: ((f"{data}_rank", _ranks(x)),),
    r"rank-past-(\d)()-rejected": lambda data, x, _: ((f"{data}_rank", _ranks(int(x) + 1)),),
    r"displaced-at-rank-(\d)()": lambda data, x, _: ((f"{data}_rank", (x,)),),
    r"displaced-of-(\d)-by-(\d)": lambda data, x, y: (
        (f"{data}_rank", (x,)),
        ("indices_rank", (y,)),
    ),
    r"displaced-from-(\d)-to-(\d)": lambda data, x, y: (
        (f"{data}_rank", (x,)),
        ("output rank", (y,)),
    ),
    rf"({_TYPES})()-(?:rejected|declined|as-\w+|through-\w+)": lambda data, x, _: (
        (f"{data}_type", (_SPELT.get(x, x),)),
    ),
    r"plan-without-(\w+)()": lambda _, x, __: (("neighbour", (f"other-values-of-{x}",)),),
}
_NAMED: dict[str, Condition] = {
    "gather-8/indices-rank-5": (("indices_rank", _ranks(5)),),
    "gather-8/output-rank-8": (("output rank", ("8",)),),
    "broadcast-1/output-rank-8": (("output rank", ("8",)),),
    "broadcast-1/explicit-output-rank-8": (("mode_word", ("explicit",)), ("output rank", ("8",))),
    "broadcast-1/scalar-to-rank-5": (("data_rank", ("0",)), ("output rank", _ranks(5))),
    "broadcast-1/mode-passed": (("mode_word", ("numpy",)),),
    "broadcast-1/narrow-target-rejected": (("target_shape_type", ("i8", "u8")),),
    "broadcast-1/new-zero-rejected": (("target_shape_new", ("zero",)),),
    "gather-8/no-indices-rejected": (("indices_extents", ("zero",)),),
    "gather-8/no-indices-no-rank": (("indices_extents", ("zero",)),),
    "gather-8/rank-lost": (("output elements", ("0",)),),
    "slice-8/type-lost": (("output elements", ("0",)),),
    "slice-8/unsigned-indices-rejected": (("start_type", ("u64",)),),
    "slice-8/start-at-minus-n-empty": (
        ("start_value", ("first_from_end",)),
        ("start_selects", ("some", "all", "one")),
    ),
    "slice-8/start-at-n-empty-backwards": (
        ("start_value", ("end",)),
        ("start_selects", ("some", "all", "one")),
    ),
    "variadic-split-1/axis-minus-rank": (
        ("data_axis", ("first",)),
        ("axis_sign", ("negative",)),
    ),
    "variadic-split-1/one-element-axis-rejected": (("axis_form", ("one_element",)),),
    "variadic-split-1/empty-rest-dropped": (("split_lengths_special", ("rest_empty",)),),
    "variadic-split-1/seventeen-parts": (("split_lengths_count", ("past_16", "past_32")),),
    "broadcast-1/accepts-mode-known-any": (("violated rule", ("broadcast-1/mode-known",)),),
    "dml-split/accepts-output-count-positive-zero": (
        ("violated rule", ("dml-split/output-count-positive",)),
    ),
    "broadcast-1/accepts-target-not-negative-explicit": (
        ("violated rule", ("broadcast-1/target-not-negative",)),
        ("mode_word", ("explicit",)),
    ),
    "slice-8/accepts-step-nonzero-without-axes": (
        ("violated rule", ("slice-8/step-nonzero",)),
        ("axes_type", ("omitted",)),
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
