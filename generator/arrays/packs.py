"""Arrays <-> one uncompressed .npz whose bytes depend on nothing but the arrays."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from opcert.generator.arrays.element_types import Array

# The first moment that a zip can record: members carry no time of their own.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LOCAL_HEADER = 30


@dataclass(frozen=True)
class Pack:
    """The bytes of a pack, and where in them each array's elements begin."""

    data: bytes
    offsets: Mapping[str, int]


def pack(arrays: Mapping[str, Array]) -> Pack:
    """Write `arrays`, each of a type that npy has, in C order and little-endian."""
    buffer = io.BytesIO()
    offsets: dict[str, int] = {}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            member.create_system = _UNIX
            member.external_attr = 0o644 << 16
            header = _npy_header(array.dtype.str, array.shape)
            path = member.filename.encode()
            offsets[name] = buffer.tell() + _LOCAL_HEADER + len(path) + len(header)
            archive.writestr(member, header + array.tobytes())
    return Pack(buffer.getvalue(), offsets)


@lru_cache(maxsize=4096)
def _npy_header(descr: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of NPY format 1.0; NumPy's own has changed its padding between versions."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    padding = -(10 + len(text) + 1) % 64
    header = text.encode("latin1") + b" " * padding + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def elements(data: bytes, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of `dtype` whose elements begin at `offset`, read-only.

    Raises:
        ValueError: `data` is too short for it.
    """
    try:
        return np.frombuffer(data, dtype, prod(shape), offset).reshape(shape)
    except OverflowError as error:
        raise ValueError(str(error)) from None
