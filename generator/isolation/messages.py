"""Messages to a worker or a driver: a line of JSON, and arrays.

The lines are the same for both; arrays differ. A worker shares memory: inputs come first, each with
its whole buffer, then outputs. A driver receives and sends packed bytes after the line.
"""

import json
import mmap
import os
import select
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from opcert.arrays.element_types import ELEMENT_TYPES, Array, type_name
from opcert.arrays.layouts import anonymous_file, start_of, underlying_buffer

PROTOCOL = 1
# The maximum size of a call's outputs, far above that of any golden outputs.
MAX_OUTPUT_BYTES = 1 << 32
# How much is read from a pipe at once: all that it holds on Linux. To allocate more takes longer
# than a call.
READ_BYTES = 1 << 16
# How many seconds a process stays awake for a message: to fall asleep and wake up takes longer than
# most calls.
_AWAKE_SECONDS = 1e-4
# Arrays begin at multiples of this number of bytes, as from an allocator.
_ALIGNMENT = 64
_INITIAL_BYTES = 1 << 20


class SharedArea:
    """Memory that two processes share; it grows but never shrinks."""

    def __init__(self, descriptor: int | None = None) -> None:
        """Map the memory of a file descriptor, by default new memory."""
        self.descriptor = anonymous_file() if descriptor is None else descriptor
        self._file = os.fstat(self.descriptor).st_ino
        self.size = 0
        self.grow(max(os.fstat(self.descriptor).st_size, _INITIAL_BYTES))

    def grow(self, size: int) -> None:
        """Make room for at least `size` bytes."""
        if size > self.size:
            new_size = max(size, 2 * self.size)
            # The other process may have enlarged the memory already.
            if os.fstat(self.descriptor).st_size < new_size:
                os.ftruncate(self.descriptor, new_size)
            self.size = new_size
            # Arrays in the former mapping keep it alive.
            self._map = mmap.mmap(self.descriptor, new_size)
            self._bytes = np.frombuffer(self._map, np.uint8)

    def close(self) -> None:
        """Close the descriptor, if that has not happened; arrays keep the memory."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def check(self) -> None:
        """Check that the descriptor still is that of the memory.

        Raises:
            OSError: a backend has closed it; it may be one of another file now.
        """
        if os.fstat(self.descriptor).st_ino != self._file:
            raise OSError("the descriptor of the shared memory was closed")

    def follow(self, size: int) -> None:
        """Map what the other process has added, up to `size` bytes.

        Raises:
            ValueError: the memory is smaller.
        """
        if size > self.size and size > os.fstat(self.descriptor).st_size:
            raise ValueError(f"{size} bytes of shared memory; it has fewer")
        self.grow(size)

    def array(
        self,
        dtype: np.dtype[Any],
        shape: Sequence[int],
        offset: int,
        strides: Sequence[int] | None = None,
    ) -> Array:
        """Return a view of the array at `offset`; `strides` are in bytes.

        Raises:
            ValueError, TypeError: the array is not within the memory.
        """
        # NumPy checks the end alone.
        if offset < 0:
            raise ValueError(f"offset {offset}; expected at least 0")
        steps = None if strides is None else tuple(strides)
        return np.ndarray(tuple(shape), dtype, self._map, offset, steps)

    def write(self, offset: int, array: Array) -> None:
        """Copy a contiguous array of any axis order to `offset`, in the order of its memory."""
        self._bytes[offset : offset + array.nbytes] = array.ravel(order="K").view(np.uint8)

    def read(self, offset: int, array: Array) -> None:
        """Fill `array` with the bytes that `write` copied to `offset`."""
        array.ravel(order="K").view(np.uint8)[...] = self._bytes[offset : offset + array.nbytes]


def align(offset: int) -> int:
    """Return `offset` rounded up to a position at which an array may begin."""
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def write_inputs(area: SharedArea, inputs: Mapping[str, Array]) -> tuple[list[dict[str, Any]], int]:
    """Copy the buffers of inputs; return their descriptions and the offset of the outputs."""
    descriptions: list[dict[str, Any]] = []
    end = 0
    for name, array in inputs.items():
        buffer = underlying_buffer(array)
        area.grow(align(end + buffer.nbytes))
        area.write(end, buffer)
        placement = {"strides": array.strides, "offset": end + start_of(array)}
        descriptions.append({**_describe_input(name, array), **placement})
        end = align(end + buffer.nbytes)
    return descriptions, end


def read_inputs_back(area: SharedArea, inputs: Mapping[str, Array]) -> None:
    """Copy the inputs that `write_inputs` placed, as the other process left them, to `inputs`."""
    end = 0
    for array in inputs.values():
        buffer = underlying_buffer(array)
        area.read(end, buffer)
        end = align(end + buffer.nbytes)


def map_inputs(area: SharedArea, descriptions: Sequence[Mapping[str, Any]]) -> dict[str, Array]:
    """Return views of the inputs that `write_inputs` placed."""
    return {
        entry["name"]: area.array(
            ELEMENT_TYPES[entry["type"]], entry["shape"], entry["offset"], entry["strides"]
        )
        for entry in descriptions
    }


def pack_inputs(inputs: Mapping[str, Array]) -> tuple[list[dict[str, Any]], list[memoryview]]:
    """Return the descriptions of inputs, and their bytes in C order, which follow the line."""
    contents = [array.ravel().view(np.uint8).data for array in inputs.values()]
    descriptions = [
        {**_describe_input(name, array), "bytes": content.nbytes}
        for (name, array), content in zip(inputs.items(), contents, strict=True)
    ]
    return descriptions, contents


def _describe_input(name: str, array: Array) -> dict[str, Any]:
    return {"name": name, "type": type_name(array.dtype), "shape": array.shape}


_ENCODER = json.JSONEncoder(separators=(",", ":"))


def encode_message(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line."""
    return _ENCODER.encode(message).encode() + b"\n"


def send_message(descriptor: int, message: Mapping[str, Any]) -> None:
    """Write the whole line of a message."""
    line = encode_message(message)
    while line:
        line = line[os.write(descriptor, line) :]


def is_ready_soon(poll: "select.poll") -> bool:
    """Whether a descriptor becomes ready before this process would have to sleep."""
    end = perf_counter() + _AWAKE_SECONDS
    while not poll.poll(0):
        if perf_counter() > end:
            return False
    return True


def receive_lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines until the other process closes its end."""
    rest = b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        is_ready_soon(poll)
        if not (chunk := os.read(descriptor, READ_BYTES)):
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
