"""Arrays as OpenVINO tensors, and back, bit for bit."""

import numpy as np
from openvino import Tensor, Type

from opcert.arrays.element_types import ELEMENT_TYPES, FOUR_BIT_TYPES, Array, bits_of, type_name

# OpenVINO's element types have the names that opcert uses.
TYPES = {name: getattr(Type, name) for name in ELEMENT_TYPES}
_NAMES = {element_type: name for name, element_type in TYPES.items()}


def to_tensor(array: Array) -> Tensor:
    """Return a tensor with a copy of `array`, which may have any memory layout.

    Raises:
        NotImplementedError: OpenVINO lacks the element type.
    """
    name = type_name(array.dtype)
    if name not in TYPES:
        raise NotImplementedError(f"no element type of OpenVINO for {array.dtype}")
    if array.dtype.isbuiltin == 1:
        return Tensor(array)
    bits = bits_of(array)
    data = _pack_four_bit(bits) if name in FOUR_BIT_TYPES else bits
    # A tensor does not keep the wrapped array alive, so it needs memory of its own.
    tensor = Tensor(TYPES[name], list(array.shape))
    tensor.copy_from(Tensor(data, array.shape, TYPES[name]))
    return tensor


def to_array(tensor: Tensor) -> Array:
    """Return an array with a copy of `tensor`."""
    name, shape = _NAMES[tensor.element_type], tuple(tensor.shape)
    dtype = ELEMENT_TYPES[name]
    if name in FOUR_BIT_TYPES:
        return _unpack_four_bit(tensor.data.view(np.uint8), shape).view(dtype)
    copy: Array = np.array(tensor.data).view(dtype)
    return copy.reshape(shape)


def _pack_four_bit(bits: Array) -> Array:
    """Return two elements per byte, the first one in the lower half."""
    pairs = np.zeros((bits.size + 1) // 2 * 2, np.uint8)
    pairs[: bits.size] = bits.ravel()
    packed: Array = pairs[::2] | pairs[1::2] << 4
    return packed


def _unpack_four_bit(packed: Array, shape: tuple[int, ...]) -> Array:
    pairs = np.stack([packed & 15, packed >> 4], axis=-1)
    return pairs.ravel()[: int(np.prod(shape))].reshape(shape)
