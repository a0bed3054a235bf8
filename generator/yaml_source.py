"""YAML text -> plain data, with the line and column of every part of it."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import TypeAlias

import yaml

from opcert.generator.errors import Mistake, SpecError

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
Path_: TypeAlias = tuple[Hashable, ...]

# The core schema of YAML 1.2: no `no` as false, no `1_0` as ten, no `1:30` as ninety.
_NULL = re.compile(r"(null|Null|NULL|~|)$")
_BOOLEAN = re.compile(r"(true|True|TRUE|false|False|FALSE)$")
_INTEGER = re.compile(r"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$")
_QUOTED = ("'", '"', "|", ">")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Source:
    """One YAML file as plain data, with a position for each path into it."""

    def __init__(self, path: Path) -> None:
        """Read `path`.

        Raises:
            SpecError: it cannot be read or is not YAML. Keys that stand twice and aliases are
                left in `mistakes`, so that they are told beside all others.
        """
        self.file = str(path)
        self.mistakes: list[Mistake] = []
        self._positions: dict[Path_, tuple[int, int]] = {(): (1, 1)}
        self._seen: set[int] = set()
        try:
            root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_LOADER)
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError([Mistake(self.file, 1, 1, f"cannot be read: {error}")]) from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            text = f"not YAML: {error.problem or error.context}"
            raise SpecError([Mistake(self.file, line, column, text)]) from None
        except yaml.YAMLError as error:
            raise SpecError([Mistake(self.file, 1, 1, f"not YAML: {error}")]) from None
        self.data = self._plain(root, ()) if root is not None else None

    def known_part(self, path: Path_) -> Path_:
        """Return the longest beginning of `path` that the file has."""
        while path not in self._positions:
            path = path[:-1]
        return path

    def mistake(self, path: Path_, text: str) -> Mistake:
        """Return a mistake at the deepest part of `path` that the file has."""
        return Mistake(self.file, *self._positions[self.known_part(path)], text)

    def _plain(self, node: yaml.Node, path: Path_) -> Plain:
        # A mapping's entry is found at its key, which is set before its value is read.
        self._positions.setdefault(path, _position(node))
        if id(node) in self._seen:
            self.mistakes.append(self.mistake(path, "an alias; write the value out instead"))
            return None
        self._seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(child, (*path, i)) for i, child in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: Path_) -> dict[str, Plain]:
        plain: dict[str, Plain] = {}
        for key_node, value in node.value:
            line, column = _position(key_node)
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
            if not key:
                text = "a key that is not plain text; expected a name"
                self.mistakes.append(Mistake(self.file, line, column, text))
            elif key in plain:
                first = self._positions[(*path, key)][0]
                text = f"duplicate key '{key}', first on line {first}; keep one of them"
                self.mistakes.append(Mistake(self.file, line, column, text))
            else:
                self._positions[(*path, key)] = (line, column)
                plain[key] = self._plain(value, (*path, key))
        return plain


def _position(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _scalar(node: yaml.ScalarNode) -> Plain:
    text: str = node.value
    if node.style in _QUOTED:
        return text
    if _NULL.match(text):
        return None
    if _BOOLEAN.match(text):
        return text.lower() == "true"
    if _INTEGER.match(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return float(text) if _FLOAT.match(text) else text
