"""The role `spans`: slices along axes, in a made-up operator of attributes or of inputs."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from opcert.certificate.certify_suite import certify
from opcert.errors import SpecError
from opcert.roles.span_levels import selection_levels
from opcert.specification.files import read_spec
from opcert.suite.generation import generate
from tests.roles.made_up import derived_rules, unobserved_levels, write_spec

# All lists are attributes; without axes all of them are sliced.
ATTRIBUTES = """
operator: made/Crop
slug: crop
version: 1
document: {title: Crop, version: "1"}
reference: crop.py:crop
types: {T: [f32, i8, u16]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: What is cropped.}
attributes:
  - {name: begin, role: spans, part: start, of: data, along: axes, type: list, text: The starts.}
  - {name: end, role: spans, part: stop, of: data, along: axes, type: list, text: The stops.}
  - name: stride
    role: spans
    part: step
    of: data
    along: axes
    required: false
    type: list
    text: The steps.
  - {name: axes, role: axes, of: data, required: false, type: list, text: The axes.}
outputs:
  - {name: cropped, type: T, shape: "[SHAPE for d, n in enumerate(data.shape)]", text: The region.}
rules:
  - id: needed
    from: required
    clause: Signature
  - id: lengths
    from: begin.length
    clause: Signature
  - id: no-zero
    from: stride.nonzero
    clause: Signature
  - id: all-axes
    from: begin.fit
    clause: Signature
  - id: axes-range
    from: axes.range
    clause: Signature
  - id: axes-unique
    from: axes.unique
    clause: Signature
  - {id: region, clause: Description, text: The region is kept.}
""".replace(
    "SHAPE",
    "sum([len(python_slice(n, begin[k], end[k], 1 if stride is None else stride[k]))"
    " if wrap(a, data.rank) == d else 0"
    " for k, a in enumerate(range(data.rank) if axes is None else axes)])"
    " if d in [wrap(a, data.rank) for a in (range(data.rank) if axes is None else axes)] else n",
)
# All lists are inputs, each of them may be omitted, and every axis is sliced.
INPUTS = """
operator: made/Crop
slug: crop
version: 1
document: {title: Crop, version: "1"}
reference: crop.py:crop
types: {T: [f32, i8, u16], I: [i64, i32], S: [i64, i16]}
inputs:
  - {name: data, role: data, type: T, rank: [1, 4], text: What is cropped.}
  - {name: begin, role: spans, part: start, of: data, required: false, type: I, text: The starts.}
  - {name: end, role: spans, part: stop, of: data, type: I, text: The stops.}
  - {name: stride, role: spans, part: step, of: data, required: false, type: S, text: The steps.}
outputs:
  - name: cropped
    type: T
    shape: >-
      [len(python_slice(n, (0 if stride is None or stride.values[d] > 0 else n - 1) if begin is None
      else begin.values[d], end.values[d], 1 if stride is None else stride.values[d]))
      for d, n in enumerate(data.shape)]
    text: The region.
rules:
  - id: needed
    from: required
    clause: Signature
  - id: types
    from: begin.type
    clause: Signature
  - id: begin-rank
    from: begin.rank
    clause: Signature
  - id: end-rank
    from: end.rank
    clause: Signature
  - id: stride-rank
    from: stride.rank
    clause: Signature
  - id: lengths
    from: begin.length
    clause: Signature
  - id: no-zero
    from: stride.nonzero
    clause: Signature
  - {id: region, clause: Description, text: The region is kept.}
"""
REFERENCE = """
import numpy as np

from opcert.reference.rules import require


def crop(data=None, begin=None, end=None, stride=None, axes=None):
    lists = [each for each in (begin, end, stride) if each is not None]
    tensors = [each for each in lists if isinstance(each, np.ndarray)]
    require(data is not None and end is not None, "crop/needed", "an argument is omitted")
    if not tensors:
        require(begin is not None, "crop/needed", "begin is omitted")
    for name, each in (("begin", begin), ("end", end), ("stride", stride)):
        if isinstance(each, np.ndarray):
            known = ("int64", "int16" if name == "stride" else "int32")
            require(str(each.dtype) in known, "crop/types", f"{name} of {each.dtype}")
    for name, each in (("begin", begin), ("end", end), ("stride", stride)):
        if isinstance(each, np.ndarray):
            require(each.ndim == 1, f"crop/{name}-rank", f"{name} of rank {each.ndim}")
    listed = [*lists, *([] if axes is None else [axes])]
    require(len({len(each) for each in listed}) == 1, "crop/lengths", "lists of several lengths")
    if axes is None:
        name = "crop/lengths" if tensors else "crop/all-axes"
        require(len(end) == data.ndim, name, "not a slice for each axis")
        axes = range(data.ndim)
    require(stride is None or all(stride), "crop/no-zero", "a step of 0")
    require(all(-data.ndim <= a < data.ndim for a in axes), "crop/axes-range", f"axes {axes}")
    wrapped = [a % data.ndim for a in axes]
    require(len({*wrapped}) == len(wrapped), "crop/axes-unique", f"axes {axes}")
    region = [slice(None)] * data.ndim
    for k, axis in enumerate(wrapped):
        parts = [None if each is None else int(each[k]) for each in (begin, end, stride)]
        region[axis] = slice(*parts)
    return [data[tuple(region)].copy()]


class Forwards:
    name, version = "forwards", "1"

    def run(self, operator, inputs, attributes):
        arguments = {**inputs, **attributes}
        if "stride" in arguments:
            arguments["stride"] = [abs(int(each)) for each in arguments["stride"]]
        return crop(**arguments)
"""


@pytest.fixture(params=["attributes", "inputs"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    spec = ATTRIBUTES if request.param == "attributes" else INPUTS
    return write_spec(tmp_path / "specs", "crop", spec, REFERENCE)


@pytest.mark.parametrize("profile", ["core", "stress"])
def test_built_calls_exhibit_their_levels(path: Path, profile: str) -> None:
    assert unobserved_levels(read_spec(path).spec, profile) == []


def test_their_suite_fails_a_wrong_backend(path: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    generate(suite, path.parent)
    assert certify("reference", suite, isolated=False, specs=path.parent).conformant
    wrong = f"{path.with_suffix('.py')}:Forwards"
    assert not certify(wrong, suite, isolated=False, specs=path.parent).conformant


def test_attributes_have_a_slice_for_each_listed_axis(tmp_path: Path) -> None:
    known = derived_rules(write_spec(tmp_path, "crop", ATTRIBUTES, REFERENCE))
    assert known["begin.length"].holds == (
        "len(end) == len(begin) and (stride is None or len(stride) == len(begin))"
        " and (axes is None or len(axes) == len(begin))"
    )
    assert known["begin.fit"].when == "axes is None"
    assert known["begin.fit"].holds == "len(begin) == data.rank"
    assert known["stride.nonzero"].when == "stride is not None"


def test_inputs_share_a_type_requirement_and_have_a_slice_for_each_axis(
    tmp_path: Path,
) -> None:
    known = derived_rules(write_spec(tmp_path, "crop", INPUTS, REFERENCE))
    assert known["begin.type"].text == (
        "Begin and end are of one of the types i64, i32; stride is of one of the types i64, i16."
    )
    assert known["begin.type"].holds == (
        "(begin is None or begin.type in ['i64', 'i32']) and end.type in ['i64', 'i32']"
        " and (stride is None or stride.type in ['i64', 'i16'])"
    )
    assert known["begin.length"].holds == (
        "(begin is None or begin.size == end.size)"
        " and (stride is None or stride.size == end.size) and end.size == data.rank"
    )
    assert known["begin.length"].prerequisites == ("begin-rank", "end-rank", "stride-rank")


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("part: stop", "part: start", 11, "missing stop of 'data'"),
        (
            "part: stop, of: data, along: axes",
            "part: stop, of: data",
            12,
            "but 'begin' is along axes",
        ),
        ("part: stop, of: data", "part: stop, of: axes", 12, "'axes' does not have the role data"),
        ("part: stop, of: data, along: axes", "part: stop, of: data, along: data", 12, "axes"),
        ("part: stop, of: data, along: axes", "part: stop, of: data, along: axs", 12, "'axs'"),
    ],
)
def test_a_wrong_relation_is_reported_at_its_place(
    tmp_path: Path, old: str, new: str, line: int, text: str
) -> None:
    path = write_spec(tmp_path, "crop", ATTRIBUTES.replace(old, new), REFERENCE)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    mistake = caught.value.mistakes[0]
    assert text in mistake.text
    assert mistake.line == line


def test_slices_select_what_python_selects() -> None:
    ends = [*range(-8, 9), -(1 << 62), 1 << 62]
    sizes = [1, 2, 3, 7, 1 << 62]
    columns = [*zip(*product(range(7), ends, ends, sizes, [1, -1]), strict=True)]
    levels = selection_levels(*map(np.array, columns))
    for level, (n, start, stop, size, direction) in zip(
        levels, zip(*columns, strict=True), strict=True
    ):
        count = len(range(n)[start : stop : size * direction])
        some = "one" if count == 1 else "some"
        assert level == ("none" if count == 0 else "all" if count == n else some)
