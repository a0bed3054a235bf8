"""What DirectML's operators have in common: the fields of their structs."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from opcert.reference.rules import Array

# The Sizes and the DataType of a tensor.
Description: TypeAlias = Mapping[str, Any]

# The greatest UINT.
MAX_UINT = 0xFFFF_FFFF

# The types in the newest table of DML_SPLIT_OPERATOR_DESC (DML_FEATURE_LEVEL_4_1), and further
# types that no document forbids.
_DATA_TYPES = {
    "float64": "FLOAT64",
    "float32": "FLOAT32",
    "float16": "FLOAT16",
    "int64": "INT64",
    "int32": "INT32",
    "int16": "INT16",
    "int8": "INT8",
    "uint64": "UINT64",
    "uint32": "UINT32",
    "uint16": "UINT16",
    "uint8": "UINT8",
    "bfloat16": "BFLOAT16",
    "bool": "BOOL",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e5m2": "FLOAT8E5M2",
    "int4": "INT4",
    "uint4": "UINT4",
}


def are_uints(*fields: int) -> bool:
    """Whether all `fields` are UINTs, which have 32 bits."""
    return all(0 <= field <= MAX_UINT for field in fields)


def data_type_of(tensor: Array) -> str:
    """Return the DataType that describes the elements of `tensor`."""
    return _data_type(tensor.dtype)


@cache
def _data_type(dtype: np.dtype[Any]) -> str:
    # NumPy composes the name of a dtype each time.
    return _DATA_TYPES[dtype.name]


def has_type_of(tensor: Array, description: Description) -> bool:
    """Whether `description` has the DataType of `tensor`."""
    data_type: str = description["DataType"]
    return data_type == data_type_of(tensor)
