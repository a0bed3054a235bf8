"""YAML files -> plain data, with the line and column of every part."""

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
_MAX_BYTES = 1 << 20
# A longer number stays text: Python does not convert thousands of digits.
_MAX_DIGITS = 99
_QUOTED = ("'", '"', "|", ">")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Readers recurse; no spec is nested nearly as deep.
_MAX_DEPTH = 50
# Hints for the most frequent syntax errors.
_HINTS = {
    "mapping values are not allowed": "quote a text that contains ': '",
    "expected ',' or '}'": "quote a text that contains ': ', a bracket or a quotation mark",
}

# The last step of a path to a key instead of its value, as in the locations of pydantic.
KEY_STEP = "[key]"


class YamlSource:
    """One YAML file as plain data, with a position for each path into it."""

    def __init__(self, path: Path) -> None:
        """Read `path`.

        Raises:
            SpecError: it cannot be read, is not YAML, or has aliases or tags. Mistakes after which
                reading continues, such as duplicate keys, are added to `mistakes`.
        """
        self.file = str(path)
        self.mistakes: list[Mistake] = []
        # Paths whose mistake is already recorded: an error of the model there adds nothing.
        self.reported: set[YamlPath] = set()
        self._positions: dict[YamlPath, tuple[int, int]] = {(): (1, 1)}
        text = self._text(path)
        try:
            self._refuse_extras(text)
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            reason = ", ".join(filter(None, (error.context, error.problem)))
            hints = [f"; {hint}" for problem, hint in _HINTS.items() if problem in reason]
            raise self._error(line, column, f"not YAML: {reason}{''.join(hints)}") from None
        except yaml.YAMLError as error:
            raise self._error(1, 1, f"not YAML: {error}") from None
        self.data = self._plain(root, ()) if root is not None else None

    def known_steps(self, path: YamlPath) -> YamlPath:
        """Return `path` without the steps that the file does not have."""
        known: YamlPath = ()
        for step in path:
            known = (*known, step) if (*known, step) in self._positions else known
        return known

    def mistake(self, path: YamlPath, text: str) -> Mistake:
        """Return a mistake with a text of one line, at the deepest part of `path` in the file.

        The position of a mapping's entry is that of its scalar, or else of its key;
        `(*path, KEY_STEP)` is always the key.
        """
        return Mistake(self.file, *self._positions[self.known_steps(path)], " ".join(text.split()))

    def _error(self, line: int, column: int, text: str) -> SpecError:
        return SpecError([Mistake(self.file, line, column, " ".join(text.split()))])

    def _text(self, path: Path) -> str:
        try:
            # Read only once: a pipe of a process substitution cannot be read again.
            self.content = read_limited(path, _MAX_BYTES, pipes=True)
            self.sha256 = sha256(self.content).hexdigest()
            return self.content.decode()
        except OSError as error:
            raise self._error(1, 1, f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode()
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            byte = f"0x{error.object[error.start]:02x}"
            raise self._error(line, column, f"not UTF-8: found the byte {byte}") from None

    def _refuse_extras(self, text: str) -> None:
        """Raise SpecError where the file has aliases, tags, or too many levels of nesting."""
        depth, mistakes = 0, []
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            tag = getattr(event, "tag", None)
            if depth > _MAX_DEPTH:
                problem = f"nested more than {_MAX_DEPTH} levels deep"
            elif isinstance(event, yaml.AliasEvent):
                problem = "an alias; write the value out instead"
            elif tag:
                problem = f"the tag {tag}; expected a value without a tag"
            else:
                continue
            mistakes.append(Mistake(self.file, *_position(event), problem))
            if depth > _MAX_DEPTH:
                break
        if mistakes:
            raise SpecError(mistakes)

    def _plain(self, node: yaml.Node, path: YamlPath) -> Plain:
        if isinstance(node, yaml.ScalarNode):
            if node.value:
                self._positions[path] = _position(node)
            return _scalar(node)
        # An entry of a mapping already has a position: that of its key.
        self._positions.setdefault(path, _position(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        for i, child in enumerate(node.value):
            self._positions[(*path, i)] = _position(child)
        return [self._plain(child, (*path, i)) for i, child in enumerate(node.value)]

    def _mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, Plain]:
        plain: dict[str, Plain] = {}
        previous_key, previous_is_missing = "", False
        for key_node, value in node.value:
            position = _position(key_node)
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
            if not key:
                self._note(position, "a key that is not plain text; expected a name")
                continue
            if key in plain:
                first = self._positions[(*path, key, KEY_STEP)][0]
                text = f"duplicate key '{key}', first on line {first}; keep one of them"
                self._note(position, text)
                continue
            self._positions[(*path, key)] = self._positions[(*path, key, KEY_STEP)] = position
            plain[key] = self._plain(value, (*path, key))
            # An unquoted `{text: a, b, c}` is a text `a` and two keys: one mistake.
            is_missing = node.flow_style and _is_missing(value)
            if is_missing:
                self.reported.add((*path, key))
                if not previous_is_missing:
                    advice = f"if it belongs to '{previous_key}', quote that text: a comma ends it"
                    advice = advice if previous_key else "expected one"
                    self._note(position, f"key '{key}' has no value; {advice}")
            previous_key, previous_is_missing = key, is_missing
        return plain

    def _note(self, position: tuple[int, int], text: str) -> None:
        self.mistakes.append(Mistake(self.file, *position, text))


def _is_missing(value: yaml.Node) -> bool:
    return isinstance(value, yaml.ScalarNode) and not value.value and value.style not in _QUOTED


def _position(part: yaml.Node | yaml.Event) -> tuple[int, int]:
    """Return line and column, counted from 1."""
    mark = part.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _scalar(node: yaml.ScalarNode) -> Plain:
    """Return the value of a scalar by the core schema of YAML 1.2."""
    text: str = node.value
    if node.style in _QUOTED or len(text) > _MAX_DIGITS:
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


def read_source(file: str | Path | YamlSource) -> YamlSource:
    """Return `file`, read unless it has been.

    Raises:
        SpecError: it cannot be read, or is not YAML.
    """
    return file if isinstance(file, YamlSource) else YamlSource(Path(file))
