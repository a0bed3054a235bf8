"""Variadic inputs: one name in the signature, several tensors in a call.

Inside opcert, the inputs of a call are a flat mapping: the tensors of a variadic input `x` are
`x[0]`, `x[1]`, and so on. No argument has a bracket in its name, so a key explains itself. Where a
call leaves opcert, for a reference, a backend or an expression, they become one list.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def tensor_key(name: str, number: int) -> str:
    """Return the key of one tensor of the variadic input `name`."""
    return f"{name}[{number}]"


def argument_of(key: str) -> str:
    """Return the name of the argument that the input `key` belongs to."""
    return key.partition("[")[0]


def keys_of(name: str, inputs: Mapping[str, object]) -> list[str]:
    """Return the keys of the tensors of an argument among `inputs`; none if it is omitted."""
    return [key for key in inputs if argument_of(key) == name]


def group_variadic(inputs: Mapping[str, Item]) -> dict[str, Item | list[Item]]:
    """Return inputs by the names of their arguments, with a list for each variadic one."""
    grouped: dict[str, Item | list[Item]] = {}
    for key, item in inputs.items():
        name, bracket, _ = key.partition("[")
        if not bracket:
            grouped[name] = item
        elif isinstance(items := grouped.setdefault(name, []), list):
            items.append(item)
    return grouped


def flatten_variadic(inputs: Mapping[str, Item | Sequence[Item]]) -> dict[str, Item]:
    """Return inputs by key, as `group_variadic` takes them; a list without items is omitted."""
    flat: dict[str, Item] = {}
    for name, item in inputs.items():
        if isinstance(item, list | tuple):
            flat.update({tensor_key(name, k): part for k, part in enumerate(item)})
        else:
            flat[name] = item  # type: ignore[assignment]
    return flat
