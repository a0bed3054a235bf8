"""Packs: an uncompressed .npz whose bytes depend only on the arrays in it."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array

# The earliest time that a zip can record, so that the bytes do not depend on the clock.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LOCAL_HEADER = 30


@dataclass(frozen=True)
class Pack:
    """The bytes of a pack, and the offset of each array's elements in them."""

    data: bytes
    offsets: Mapping[str, int]


class PackWriter:
    """Writes arrays, each of a dtype that npy has, to a pack one by one."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._archive = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_STORED)
        self.offsets: dict[str, int] = {}

    def add(self, name: str, array: Array) -> None:
        """Append `array`."""
        member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
        member.create_system = _UNIX
        member.external_attr = 0o644 << 16
        header = _npy_header(array.dtype.str, array.shape)
        path = member.filename.encode()
        self.offsets[name] = self._buffer.tell() + _LOCAL_HEADER + len(path) + len(header)
        self._archive.writestr(member, header + array.tobytes())

    def pack(self) -> Pack:
        """Close the archive and return the pack."""
        self._archive.close()
        return Pack(self._buffer.getvalue(), self.offsets)


def write_pack(arrays: Mapping[str, Array]) -> Pack:
    """Write `arrays`, each of a dtype that npy has, in C order and little-endian."""
    writer = PackWriter()
    for name, array in arrays.items():
        writer.add(name, array)
    return writer.pack()


@lru_cache(maxsize=4096)
def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Return a header of NPY format 1.0; the padding of NumPy's own differs between versions."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    padding = -(10 + len(text) + 1) % 64
    header = text.encode("latin1") + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def read_elements(data: bytes, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of `dtype` whose elements begin at `offset`, read-only.

    Raises:
        ValueError: `data` is too short for it.
    """
    try:
        return np.frombuffer(data, dtype, prod(shape), offset).reshape(shape)
    except OverflowError as error:
        raise ValueError(str(error)) from None
