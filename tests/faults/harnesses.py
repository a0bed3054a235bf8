"""Wrong harnesses: opcert with one mistake of its own, and faults that it no longer finds."""

from dataclasses import dataclass

import numpy as np

from opcert.arrays.element_types import Array
from opcert.arrays.layouts import Layout, copy_in_layout
from opcert.run import comparison, session
from opcert.verdicts import certification, judging
from tests.faults import patches
from tests.faults.patches import Patch


@dataclass(frozen=True)
class Harness:
    """A mistake that opcert itself could make; `unseen` are faults that it then certifies."""

    name: str
    patch: Patch
    unseen: tuple[str, ...]


def _fresh(_: object, array: Array, layout: Layout) -> Array:
    return copy_in_layout(array, layout)


# Most faults are those of DirectML's split, whose cases are the quickest to run.
HARNESSES = [
    Harness("compares-nothing", patches.calling("compare_outputs", lambda *_: None),
        ("dml-split/tail-16", "slice-8/flat", "dml-split/last-dropped")),
    Harness("ignores-type", patches.comparing(patches.each(patches.cast)),
        ("dml-split/f16-as-f32", "gather-8/bool-as-u8", "dml-split/big-endian")),
    Harness("ignores-shape", patches.comparing(patches.each(patches.in_shape)),
        ("dml-split/flat", "dml-split/squeezed")),
    Harness("ignores-order", patches.comparing(patches.each(patches.in_any_order)),
        ("slice-8/backwards-in-order", "dml-split/inner-transposed")),
    Harness("ignores-bits", patches.values_only,
        ("dml-split/f32-one-nan", "dml-split/f32-positive-zero", "gather-8/negative-zero")),
    Harness("ignores-small-differences", patches.comparing(patches.each(patches.nearly)),
        ("dml-split/f32-positive-zero", "gather-8/i64-through-f64")),
    Harness("compares-64-elements", patches.comparing(patches.each(patches.head)),
        ("gather-8/indices-256", "broadcast-1/repeated-256-times")),
    Harness("compares-the-first-output", patches.comparing(patches.first_only),
        ("variadic-split-1/offset-not-advanced", "dml-split/offset-not-advanced")),
    Harness("compares-as-many-as-both-have", patches.comparing(patches.as_many),
        ("dml-split/one-output-more", "variadic-split-1/last-dropped", "dml-split/last-dropped")),
    Harness("skips-must-reject", patches.running(rejections=False),
        ("slice-8/accepts-step-nonzero-alone", "gather-8/accepts-axis-range-of-rank",
        "variadic-split-1/accepts-lengths-sum-below", "broadcast-1/accepts-mode-known-any",
        "dml-split/accepts-output-type-last", "dml-split/when-rejecting",
        "dml-split/after-a-rejection")),
    Harness("same-data-twice", patches.same_data, ("dml-split/identity", "gather-8/view-of-a-row")),
    Harness("fresh-buffers", patches.setting(session, "fill_buffer", _fresh),
        ("dml-split/identity", "gather-8/view-of-a-row")),
    Harness("shares-its-own-arrays", patches.setting(session, "fill_buffer",
        lambda _buffer, array, _layout: array), ("dml-split/identity", "gather-8/view-of-a-row")),
    Harness("ignores-inputs", patches.calling("find_mutation", lambda *_: None),
        ("dml-split/when-rejecting", "slice-8/axes-normalised")),
    Harness("never-looks-again", patches.setting(comparison.CallRecord, "outputs_changed", False),
        ("dml-split/ring-1", "dml-split/ring-4")),
    Harness("holds-no-outputs",
        patches.setting(certification.Certification, "_retain", lambda *_: None),
        ("dml-split/ring-8", "gather-8/ring-8")),
    Harness("declining-is-free", patches.setting(judging, "_undeclared", lambda found, _: found),
        ("dml-split/rank-7-declined", "broadcast-1/explicit-declined")),
    Harness("rejections-pass", patches.both(patches.judging(patches.passing("rejected")),
        patches.running(rejections=True)), ("dml-split/rank-7-rejected", "slice-8/axes-required")),
    Harness("acceptance-passes", patches.judging(patches.passing("accepted")),
        ("slice-8/accepts-step-nonzero-alone", "dml-split/accepts-axis-range-of-rank")),
    Harness("everything-passes", patches.judging(patches.passing("fail", "unsupported")),
        ("dml-split/tail-16", "dml-split/rank-7-rejected")),
    Harness("constant-data", patches.with_data(lambda array: np.full_like(array, 1)),
        ("dml-split/offset-not-advanced", "gather-8/off-by-one", "broadcast-1/repeated")),
    Harness("ordinary-data", patches.with_data(patches.plain),
        ("dml-split/f16-flushed", "dml-split/f32-one-nan")),
    Harness("ranks-to-4", patches.only(lambda case: all(len(each.shape) < 5
        for each in (*case.inputs.values(), *case.outputs))),
        ("dml-split/outer-not-advanced", "dml-split/rank-7-rejected")),
    Harness("one-type", patches.only(lambda case: case.type == "f32"),
        ("dml-split/f16-as-f32", "slice-8/bits-as-integers", "gather-8/bool-as-u8")),
    Harness("nothing-empty", patches.only(lambda case: not any(0 in each.shape
        for each in (*case.inputs.values(), *case.outputs))),
        ("slice-8/type-lost", "gather-8/data-rejected", "variadic-split-1/zero-length-dropped",
        "broadcast-1/one-to-zero-rejected")),
    Harness("examples-only", patches.only(lambda case: case.example),
        ("dml-split/outer-not-advanced-7", "dml-split/tail-64")),
]  # fmt: skip
