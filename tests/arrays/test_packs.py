"""Packs: what any npy reader finds in them, and bytes that depend on nothing but the arrays."""

import io
import time
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opcert.arrays import ELEMENT_TYPES, Array, read_elements, stored_dtype
from opcert.arrays.packs import pack

MANY = settings(max_examples=100, deadline=None, derandomize=True)
NAMES = st.text(st.characters(categories=["L", "N"], include_characters="-_./"), min_size=1)
SHAPES = st.lists(st.integers(0, 4), max_size=5).map(tuple)


def stored(element_type: str, shape: tuple[int, ...], first: int = 0) -> Array:
    """An array as a pack stores its type, with bits that tell positions apart."""
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


def loaded(data: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)


def described(array: Array) -> tuple[np.dtype[Any], tuple[int, ...], bytes]:
    return array.dtype, array.shape, array.tobytes()


@MANY
@given(CONTENTS)
def test_numpy_reads_every_array_back_bit_for_bit(contents: dict[str, Array]) -> None:
    found = loaded(pack(contents).data)
    assert list(found) == list(contents)
    for name, array in contents.items():
        assert described(found[name]) == described(array)


@MANY
@given(CONTENTS)
def test_offsets_point_at_the_elements(contents: dict[str, Array]) -> None:
    packed = pack(contents)
    assert packed.offsets.keys() == contents.keys()
    for name, array in contents.items():
        found = read_elements(packed.data, packed.offsets[name], array.shape, array.dtype)
        assert described(found) == described(array)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (1,) * 8])
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_every_element_type_goes_through_a_pack(element_type: str, shape: tuple[int, ...]) -> None:
    array = stored(element_type, shape)
    packed = pack({"a": array})
    read = loaded(packed.data)["a"].view(ELEMENT_TYPES[element_type])
    at_offset = read_elements(packed.data, packed.offsets["a"], shape, stored_dtype(element_type))
    for found in (read, at_offset.view(ELEMENT_TYPES[element_type])):
        assert found.dtype == ELEMENT_TYPES[element_type]
        assert (found.shape, found.tobytes()) == (shape, array.tobytes())


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_no_element_type_is_stored_in_a_way_that_npy_lacks(element_type: str) -> None:
    header = np.lib.format.dtype_to_descr(stored_dtype(element_type))
    assert isinstance(header, str)
    assert header[0] in "<|"
    assert header[1] in "biuf"


def test_a_view_is_stored_in_the_order_of_its_elements() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    for view in (array.T, array[:, ::-1], np.asfortranarray(array)):
        assert np.array_equal(loaded(pack({"a": view}).data)["a"], view)


def test_an_empty_pack_is_an_archive_too() -> None:
    assert loaded(pack({}).data) == {}


def test_the_bytes_do_not_depend_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"a/b": np.arange(5), "c": np.ones((), bool)}
    before = pack(contents).data
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    assert pack(contents).data == before


@MANY
@given(CONTENTS, CONTENTS)
def test_the_bytes_do_not_depend_on_what_was_packed_before(
    contents: dict[str, Array], others: dict[str, Array]
) -> None:
    before = pack(contents).data
    pack(others)
    assert pack({name: array.copy() for name, array in contents.items()}).data == before


@MANY
@given(CONTENTS, arrays())
def test_an_array_put_in_behind_the_others_moves_none_of_them(
    contents: dict[str, Array], another: Array
) -> None:
    packed = pack(contents)
    grown = pack({**contents, "¶": another})
    assert packed.offsets.items() <= grown.offsets.items()


def test_members_are_uncompressed_and_without_times_of_their_own() -> None:
    data = pack({"a": np.zeros(1000), "b/c": np.arange(3)}).data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        assert archive.testzip() is None
    assert [member.filename for member in members] == ["a.npy", "b/c.npy"]
    for member in members:
        assert member.compress_type == zipfile.ZIP_STORED
        assert member.date_time == (1980, 1, 1, 0, 0, 0)
        assert (member.create_system, member.external_attr, member.extra) == (3, 0o644 << 16, b"")


def test_elements_are_read_only() -> None:
    packed = pack({"a": np.arange(4)})
    found = read_elements(packed.data, packed.offsets["a"], (4,), np.dtype(np.int64))
    assert not found.flags.writeable


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
def test_elements_beyond_the_pack_are_a_value_error(offset: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_elements(pack({"a": np.arange(4)}).data, offset, shape, np.dtype(np.int8))
