"""YAML text -> plain data, with the line and column of every part of it."""

import re
from collections.abc import Hashable
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import yaml

from opcert.errors import Mistake, SpecError
from opcert.untrusted_files import read_limited

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
YamlPath: TypeAlias = tuple[Hashable, ...]

# The core schema of YAML 1.2: no `no` as false, no `1_0` as ten, no `1:30` as ninety.
_NULL = re.compile(r"(null|Null|NULL|~|)$")
_BOOLEAN = re.compile(r"(true|True|TRUE|false|False|FALSE)$")
_INTEGER = re.compile(r"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)$")
_SPECIAL_FLOAT = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
# The most bytes that are read; the largest spec has a fortieth of it.
LARGEST = 1 << 20
# A longer one stays text: Python converts no number of thousands of digits.
_LONGEST_NUMBER = 99
_QUOTED = ("'", '"', "|", ">")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# How deep a spec may be nested; no part of one is as deep, and readers recurse.
_DEPTH = 50

# Behind the path of a mapping's entry: its key, as pydantic calls it.
KEY_STEP = "[key]"


class YamlSource:
    """One YAML file as plain data, with a position for each path into it."""

    def __init__(self, path: Path) -> None:
        """Read `path`.

        Raises:
            SpecError: it cannot be read, is not YAML, or has what specs do without: aliases, tags.
                Keys that stand twice are left in `mistakes`, so that they are told beside others.
        """
        self.file = str(path)
        self.mistakes: list[Mistake] = []
        self._positions: dict[YamlPath, tuple[int, int]] = {(): (1, 1)}
        text = self._text(path)
        try:
            self._stop_at_extras(text)
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            reason = ", ".join(filter(None, (error.context, error.problem)))
            raise self._error(line, column, f"not YAML: {reason}") from None
        except yaml.YAMLError as error:
            raise self._error(1, 1, f"not YAML: {error}") from None
        self.data = self._plain(root, ()) if root is not None else None

    def known_part(self, path: YamlPath) -> YamlPath:
        """Return the steps of `path` that the file has."""
        known: YamlPath = ()
        for step in path:
            known = (*known, step) if (*known, step) in self._positions else known
        return known

    def mistake(self, path: YamlPath, text: str) -> Mistake:
        """Return a mistake, told on one line, at the deepest part of `path` that the file has.

        An entry of a mapping is found at its scalar, else at its key; `(*path, KEY)` is the key.
        """
        return Mistake(self.file, *self._positions[self.known_part(path)], " ".join(text.split()))

    def _error(self, line: int, column: int, text: str) -> SpecError:
        return SpecError([Mistake(self.file, line, column, " ".join(text.split()))])

    def _text(self, path: Path) -> str:
        try:
            # Read once: what a shell substitutes for a file can be read no second time.
            self.content = read_limited(path, LARGEST, pipes=True)
            self.sha256 = sha256(self.content).hexdigest()
            return self.content.decode()
        except OSError as error:
            raise self._error(1, 1, f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode()
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            byte = f"0x{error.object[error.start]:02x}"
            raise self._error(line, column, f"not UTF-8: found the byte {byte}") from None

    def _stop_at_extras(self, text: str) -> None:
        depth, extras = 0, []
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            extra = _extra(event, depth)
            if extra:
                extras.append(Mistake(self.file, *_position(event), extra))
            if depth > _DEPTH:
                break
        if extras:
            raise SpecError(extras)

    def _plain(self, node: yaml.Node, path: YamlPath) -> Plain:
        if isinstance(node, yaml.ScalarNode):
            if node.value:
                self._positions[path] = _position(node)
            return _scalar(node)
        # An entry of a mapping has a position, its key's, before its value is read.
        self._positions.setdefault(path, _position(node))
        if isinstance(node, yaml.SequenceNode):
            for i, child in enumerate(node.value):
                self._positions[(*path, i)] = _position(child)
            return [self._plain(child, (*path, i)) for i, child in enumerate(node.value)]
        return self._mapping(node, path)

    def _mapping(self, node: yaml.Node, path: YamlPath) -> dict[str, Plain]:
        plain: dict[str, Plain] = {}
        for key_node, value in node.value:
            place = _position(key_node)
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
            if not key:
                text = "a key that is not plain text; expected a name"
                self.mistakes.append(Mistake(self.file, *place, text))
            elif key in plain:
                first = self._positions[(*path, key, KEY_STEP)][0]
                text = f"duplicate key '{key}', first on line {first}; keep one of them"
                self.mistakes.append(Mistake(self.file, *place, text))
            else:
                self._positions[(*path, key)] = self._positions[(*path, key, KEY_STEP)] = place
                plain[key] = self._plain(value, (*path, key))
        return plain


def _extra(event: yaml.Event, depth: int) -> str:
    """Say what `event` has that specs do without, if anything."""
    if depth > _DEPTH:
        return f"nested more than {_DEPTH} deep"
    if isinstance(event, yaml.AliasEvent):
        return "an alias; write the value out instead"
    tag = getattr(event, "tag", None)
    return f"the tag {tag}; expected a value without one" if tag else ""


def _position(part: yaml.Node | yaml.Event) -> tuple[int, int]:
    mark = part.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _scalar(node: yaml.ScalarNode) -> Plain:
    text: str = node.value
    if node.style in _QUOTED or len(text) > _LONGEST_NUMBER:
        return text
    if _NULL.match(text):
        return None
    if _BOOLEAN.match(text):
        return text.lower() == "true"
    if _INTEGER.match(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _SPECIAL_FLOAT.match(text):
        return float(text.replace(".", ""))
    return float(text) if _FLOAT.match(text) else text
