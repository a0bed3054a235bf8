"""Packs: any npy reader reads them, and their bytes depend only on the arrays."""

import io
import time
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays.element_types import ELEMENT_TYPES, Array, stored_dtype
from opcert.arrays.patterns import PackWriter, read_elements

MANY = settings(max_examples=100, deadline=None, derandomize=True)
NAMES = st.text(st.characters(categories=["L", "N"], include_characters="-_./"), min_size=1)
SHAPES = st.lists(st.integers(0, 4), max_size=5).map(tuple)


def stored(element_type: str, shape: tuple[int, ...], first: int = 0) -> Array:
    """An array as a pack stores its type, with bits that distinguish positions."""
    dtype = stored_dtype(element_type)
    size = int(np.prod(shape, dtype=int))
    if dtype.kind == "b":
        return np.equal(np.arange(first, first + size) % 3, 0).reshape(shape)
    count = np.arange(first, first + size * dtype.itemsize).astype(np.uint8)
    return count.view(dtype).reshape(shape)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    return stored(
        draw(st.sampled_from(tuple(ELEMENT_TYPES))), draw(SHAPES), draw(st.integers(0, 9))
    )


CONTENTS = st.dictionaries(NAMES, arrays(), max_size=5)


def write_pack(contents: dict[str, Array]) -> PackWriter:
    writer = PackWriter()
    for name, array in contents.items():
        writer.add(name, array)
    return writer


def loaded(data: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)


def described(array: Array) -> tuple[np.dtype[Any], tuple[int, ...], bytes]:
    return array.dtype, array.shape, array.tobytes()


@MANY
@given(CONTENTS)
def test_numpy_reads_every_array_back_bit_for_bit(contents: dict[str, Array]) -> None:
    array_read = loaded(write_pack(contents).data())
    assert list(array_read) == list(contents)
    for name, array in contents.items():
        assert described(array_read[name]) == described(array)


@MANY
@given(CONTENTS)
def test_offsets_point_at_the_elements(contents: dict[str, Array]) -> None:
    packed = write_pack(contents)
    assert packed.offsets.keys() == contents.keys()
    for name, array in contents.items():
        array_read = read_elements(packed.data(), packed.offsets[name], array.shape, array.dtype)
        assert described(array_read) == described(array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (1,) * 8])
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_every_element_type_survives_a_pack(element_type: str, shape: tuple[int, ...]) -> None:
    array = stored(element_type, shape)
    packed = write_pack({"a": array})
    read = loaded(packed.data())["a"].view(ELEMENT_TYPES[element_type])
    at_offset = read_elements(packed.data(), packed.offsets["a"], shape, stored_dtype(element_type))
    for array_read in (read, at_offset.view(ELEMENT_TYPES[element_type])):
        assert array_read.dtype == ELEMENT_TYPES[element_type]
        assert (array_read.shape, array_read.tobytes()) == (shape, array.tobytes())


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_every_element_type_is_stored_as_a_dtype_of_npy(element_type: str) -> None:
    header = np.lib.format.dtype_to_descr(stored_dtype(element_type))
    assert isinstance(header, str)
    assert header[0] in "<|"
    assert header[1] in "biuf"


def test_a_view_is_stored_in_the_order_of_its_elements() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    for view in (array.T, array[:, ::-1], np.asfortranarray(array)):
        assert np.array_equal(loaded(write_pack({"a": view}).data())["a"], view)


def test_an_empty_pack_is_a_valid_archive() -> None:
    assert loaded(write_pack({}).data()) == {}


def test_the_bytes_do_not_depend_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"a/b": np.arange(5), "c": np.ones((), bool)}
    before = write_pack(contents).data()
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    assert write_pack(contents).data() == before


@MANY
@given(CONTENTS, CONTENTS)
def test_the_bytes_do_not_depend_on_earlier_packs(
    contents: dict[str, Array], others: dict[str, Array]
) -> None:
    before = write_pack(contents).data()
    write_pack(others)
    assert write_pack({name: array.copy() for name, array in contents.items()}).data() == before


@MANY
@given(CONTENTS, arrays())
def test_an_appended_array_does_not_move_the_others(
    contents: dict[str, Array], another: Array
) -> None:
    packed = write_pack(contents)
    grown = write_pack({**contents, "¶": another})
    assert packed.offsets.items() <= grown.offsets.items()


def test_members_are_uncompressed_and_have_a_fixed_time() -> None:
    data = write_pack({"a": np.zeros(1000), "b/c": np.arange(3)}).data()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        assert archive.testzip() is None
    assert [member.filename for member in members] == ["a.npy", "b/c.npy"]
    for member in members:
        assert member.compress_type == zipfile.ZIP_STORED
        assert member.date_time == (1980, 1, 1, 0, 0, 0)
        assert (member.create_system, member.external_attr, member.extra) == (3, 0o644 << 16, b"")


def test_elements_are_read_only() -> None:
    packed = write_pack({"a": np.arange(4)})
    array_read = read_elements(packed.data(), packed.offsets["a"], (4,), np.dtype(np.int64))
    assert not array_read.flags.writeable


@pytest.mark.parametrize(
    ("offset", "shape"),
    [
        (0, (10**6,)),
        (10**6, (0,)),
        (2**80, (1,)),
        (0, (2**80,)),
        (0, (0, 2**80)),
        (0, (2**32, 2**32)),
        (0, (1,) * 99),
    ],
)
def test_elements_beyond_the_pack_raise_a_value_error(offset: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_elements(write_pack({"a": np.arange(4)}).data(), offset, shape, np.dtype(np.int8))
