"""What a supervisor says to a worker or a driver: a line of JSON, and arrays.

Both get the same lines; they differ in how arrays are handed over. With a worker they lie in shared
memory: the inputs at its beginning, with what lies between their elements, the outputs behind
them. With a driver their bytes follow the line, packed.
"""

import json
import mmap
import os
import select
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from opcert.arrays import ELEMENT_TYPES, Array, type_name, underlying_buffer

PROTOCOL = 1
# The most bytes of outputs that are handed over; no golden ones are near it.
ROOM = 1 << 32
# How many seconds the other side is waited for before sleeping: it mostly answers sooner than a
# process wakes up.
BRISK = 1e-4
# Where an array begins is a multiple of this, as an allocator would have it.
_ALIGNED = 64
_LEAST = 1 << 20


class Area:
    """Memory that two processes see; it grows, and never shrinks."""

    def __init__(self, descriptor: int | None = None) -> None:
        """Map the memory behind a file descriptor, or new memory."""
        self.descriptor = _fresh() if descriptor is None else descriptor
        self.size = 0
        self.reach(max(os.fstat(self.descriptor).st_size, _LEAST))

    def reach(self, size: int) -> None:
        """Have at least `size` bytes."""
        if size > self.size:
            wanted = max(size, 2 * self.size)
            if os.fstat(self.descriptor).st_size < wanted:
                os.ftruncate(self.descriptor, wanted)
            self.size = wanted
            # Arrays that lie in the former map keep it.
            self._map = mmap.mmap(self.descriptor, wanted)
            self._bytes = np.frombuffer(self._map, np.uint8)

    def array(
        self,
        dtype: np.dtype[Any],
        shape: Sequence[int],
        offset: int,
        strides: Sequence[int] | None = None,
    ) -> Array:
        """Return the array that begins at `offset`."""
        steps = None if strides is None else tuple(strides)
        return np.ndarray(tuple(shape), dtype, self._map, offset, steps)

    def write(self, offset: int, array: Array) -> None:
        """Lay the elements of an array, contiguous in any order, as they lie in its memory."""
        self._bytes[offset : offset + array.nbytes] = _raw(array)

    def read(self, offset: int, array: Array) -> None:
        """Give an array, contiguous in any order, the elements that `write` laid."""
        _raw(array)[...] = self._bytes[offset : offset + array.nbytes]


def _raw(array: Array) -> Array:
    return array.ravel(order="K").view(np.uint8)


def _fresh() -> int:
    """Return the descriptor of new memory, or of a file where there is no such memory."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("opcert")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def aligned(offset: int) -> int:
    """Return where an array that comes at `offset` or behind it may begin."""
    return -(-offset // _ALIGNED) * _ALIGNED


def described(name: str, array: Array) -> dict[str, Any]:
    """Return what is said of an input, however it is handed over."""
    return {"name": name, "type": type_name(array.dtype), "shape": array.shape}


def put(area: Area, inputs: Mapping[str, Array]) -> tuple[list[dict[str, Any]], int]:
    """Lay inputs with their gaps, and say where each is, and where the outputs may begin."""
    placed: list[dict[str, Any]] = []
    end = 0
    for name, array in inputs.items():
        whole = underlying_buffer(array)
        begin = 0 if whole is array else _address(array) - _address(whole)
        area.reach(aligned(end + whole.nbytes))
        area.write(end, whole)
        at = {"strides": array.strides, "offset": end + begin}
        placed.append({**described(name, array), **at})
        end = aligned(end + whole.nbytes)
    return placed, end


def taken_back(area: Area, inputs: Mapping[str, Array]) -> None:
    """Give `inputs` what has become of them where `put` laid them."""
    end = 0
    for array in inputs.values():
        whole = underlying_buffer(array)
        area.read(end, whole)
        end = aligned(end + whole.nbytes)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def got(area: Area, placed: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """Return the inputs that `put` laid, where they lie."""
    return {
        at["name"]: area.array(ELEMENT_TYPES[at["type"]], at["shape"], at["offset"], at["strides"])
        for at in placed
    }


def packed(inputs: Mapping[str, Array]) -> tuple[list[dict[str, Any]], list[memoryview]]:
    """Return what is said of inputs whose bytes follow, and those: elements in C order, packed."""
    contents = [array.ravel().view(np.uint8).data for array in inputs.values()]
    said = [
        {**described(name, array), "bytes": content.nbytes}
        for (name, array), content in zip(inputs.items(), contents, strict=True)
    ]
    return said, contents


_ENCODER = json.JSONEncoder(separators=(",", ":"))


def line_of(message: Mapping[str, Any]) -> bytes:
    """Return a message as the line that is sent."""
    return _ENCODER.encode(message).encode() + b"\n"


def say(descriptor: int, message: Mapping[str, Any]) -> None:
    """Write a message as a line, whole."""
    line = line_of(message)
    while line:
        line = line[os.write(descriptor, line) :]


def spin_until_ready(ready: "select.poll") -> bool:
    """Stay awake for a moment at most, and say whether a descriptor is ready by then."""
    end = time.monotonic() + BRISK
    while not ready.poll(0):
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines until there are no more."""
    ready = select.poll()
    ready.register(descriptor, select.POLLIN)
    rest = b""
    while chunk := _chunk(descriptor, ready):
        *found, rest = (rest + chunk).split(b"\n")
        yield from found


def _chunk(descriptor: int, ready: "select.poll") -> bytes:
    spin_until_ready(ready)
    return os.read(descriptor, 1 << 20)
