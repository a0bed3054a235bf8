"""Arrays as OpenVINO's tensors, and back, bit for bit."""

import numpy as np
from openvino import Tensor, Type

from opcert.arrays import ELEMENT_TYPES, FOUR_BIT_TYPES, Array, bits_of, type_name

# OpenVINO calls the element types as opcert does.
TYPES = {name: getattr(Type, name) for name in ELEMENT_TYPES}
_NAMES = {of: name for name, of in TYPES.items()}


def tensor_of(array: Array) -> Tensor:
    """Return a tensor with a copy of `array`, which may lie in memory in any way.

    Raises:
        NotImplementedError: OpenVINO has no such type.
    """
    name = type_name(array.dtype)
    if name not in TYPES:
        raise NotImplementedError(f"no element type of OpenVINO for {array.dtype}")
    if array.dtype.isbuiltin == 1:
        return Tensor(array)
    bits = bits_of(array)
    # A tensor does not keep alive what it wraps, so that one with memory of its own is needed.
    tensor = Tensor(TYPES[name], list(array.shape))
    tensor.copy_from(
        Tensor(_packed(bits) if name in FOUR_BIT_TYPES else bits, array.shape, TYPES[name])
    )
    return tensor


def array_of(tensor: Tensor) -> Array:
    """Return an array with a copy of `tensor`."""
    name, shape = _NAMES[tensor.element_type], tuple(tensor.shape)
    dtype = ELEMENT_TYPES[name]
    if name in FOUR_BIT_TYPES:
        return _unpacked(tensor.data.view(np.uint8), shape).view(dtype)
    copied: Array = np.array(tensor.data).view(dtype)
    return copied.reshape(shape)


def _packed(bits: Array) -> Array:
    """Two elements a byte, the first of them in the lower half."""
    pairs = np.zeros((bits.size + 1) // 2 * 2, np.uint8)
    pairs[: bits.size] = bits.ravel()
    packed: Array = pairs[::2] | pairs[1::2] << 4
    return packed


def _unpacked(packed: Array, shape: tuple[int, ...]) -> Array:
    pairs = np.stack([packed & 15, packed >> 4], axis=-1)
    return pairs.ravel()[: int(np.prod(shape))].reshape(shape)
