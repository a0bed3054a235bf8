"""Arrays <-> one uncompressed .npz whose bytes depend on nothing but the arrays."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from opcert.arrays.element_types import Array

# The first moment that a zip can record: members carry no time of their own.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LOCAL_HEADER = 30


@dataclass(frozen=True)
class Pack:
    """The bytes of a pack, and where in them each array's elements begin."""

    data: bytes
    offsets: Mapping[str, int]


class PackWriter:
    """Writes arrays to a pack one by one, each of a type that npy has."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._archive = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_STORED)
        self.offsets: dict[str, int] = {}

    def add(self, name: str, array: Array) -> None:
        """Write `array` behind the others."""
        member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
        member.create_system = _UNIX
        member.external_attr = 0o644 << 16
        header = _npy_header(array.dtype.str, array.shape)
        path = member.filename.encode()
        self.offsets[name] = self._buffer.tell() + _LOCAL_HEADER + len(path) + len(header)
        self._archive.writestr(member, header + array.tobytes())

    def pack(self) -> Pack:
        """Return the pack; nothing can be added any more."""
        self._archive.close()
        return Pack(self._buffer.getvalue(), self.offsets)


def pack(arrays: Mapping[str, Array]) -> Pack:
    """Write `arrays`, each of a type that npy has, in C order and little-endian."""
    writer = PackWriter()
    for name, array in arrays.items():
        writer.add(name, array)
    return writer.pack()


@lru_cache(maxsize=4096)
def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of NPY format 1.0; NumPy's own has changed its padding between versions."""
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
