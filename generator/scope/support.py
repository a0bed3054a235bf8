"""What a backend declares: which cases it says beforehand that it does not support."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from opcert.arrays import ELEMENT_TYPES
from opcert.backends import as_backend_error
from opcert.errors import BackendError, describe_error, did_you_mean, safe_repr
from opcert.suite import Suite, core_suite_folder, read_manifest

# How alike names are of which one is a slip of the pen: most of it is their family and version.
_ALIKE = 0.9


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | range | set | frozenset) else value


_AsList = BeforeValidator(_listed)


class OperatorScope(BaseModel):
    """Which calls of one operator are meant; a part that is left out is meant whole.

    `types` and `ranks` are those of the first input, `index_types` those of the others together,
    `input_types` those of inputs by name. Of the inputs in each list of `same_types`, those that
    are given share one type. `excluded` lists rules and `factor=level`s.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    types: Annotated[list[str] | None, _AsList] = None
    index_types: Annotated[list[str] | None, _AsList] = None
    input_types: dict[str, Annotated[list[str], _AsList]] = {}
    same_types: Annotated[list[Annotated[list[str], _AsList]], _AsList] = []
    ranks: Annotated[list[int] | None, _AsList] = None
    excluded: Annotated[list[str], _AsList] = []

    @property
    def named_inputs(self) -> list[str]:
        """The inputs that it names."""
        return [*self.input_types, *chain.from_iterable(self.same_types)]

    def exclusion_reason(self, case: "CaseProperties") -> str | None:
        """Return what of the scope leaves `case` out, or None where nothing does."""
        out: dict[str, Iterable[Any]] = {
            "types": _beyond({case.type}, self.types),
            "index_types": _beyond(case.index_types, self.index_types),
            "input_types": [
                f"{name} {case.input_types[name]}"
                for name, types in self.input_types.items()
                if name in case.input_types and case.input_types[name] not in types
            ],
            "same_types": [mixed for group in self.same_types if (mixed := _mixed(group, case))],
            "ranks": _beyond({case.rank}, self.ranks),
            "excluded": sorted(rules_and_levels(case).intersection(self.excluded)),
        }
        first = next(((key, found) for key, found in out.items() if found), None)
        return first and f"{first[0]}, {next(iter(first[1]))}"


class OperatorSupport(OperatorScope):
    """What is supported of one operator, and `how` it is made: native or composed."""

    how: str


class CaseProperties(Protocol):
    """What a declaration can speak of in a call: as a case of a suite has it."""

    @property
    def type(self) -> str:
        """The element type of the first input."""

    @property
    def rank(self) -> int:
        """The rank of the first input."""

    @property
    def index_types(self) -> frozenset[str]:
        """The element types of the inputs behind the first."""

    @property
    def input_types(self) -> Mapping[str, str]:
        """The element type of each input by name."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that it exercises, by full id."""

    @property
    def levels(self) -> Mapping[str, str]:
        """The level of each factor."""


@dataclass(frozen=True)
class Support:
    """What a backend declares of each operator; without a declaration it is everything."""

    declared: Mapping[str, OperatorSupport] | None

    def described(self) -> dict[str, Any] | None:
        """Return the declaration as a certificate has it."""
        if self.declared is None:
            return None
        return {name: each.model_dump(exclude_unset=True) for name, each in self.declared.items()}

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return what of the declaration leaves `case` out, or None where nothing does."""
        if self.declared is None:
            return None
        if operator not in self.declared:
            near = get_close_matches(operator, self.declared, n=1)
            meant = f"; support has '{near[0]}'" if near else ""
            return f"declared: {operator} is not supported{meant}"
        beyond = self.declared[operator].exclusion_reason(case)
        return beyond and f"declared: {beyond}"


def rules_and_levels(case: CaseProperties) -> set[str]:
    """Return what `excluded` may name to leave `case` out: its rules and factor=levels."""
    return {*case.rules, *(f"{factor}={level}" for factor, level in case.levels.items())}


def _mixed(group: Iterable[str], case: CaseProperties) -> str:
    """Return the types of a group of inputs where they differ, or nothing."""
    types = {name: case.input_types[name] for name in group if name in case.input_types}
    alike = len(set(types.values())) < 2
    return "" if alike else ", ".join(f"{name} {of}" for name, of in types.items())


def _beyond(found: Iterable[Any], declared: Iterable[Any] | None) -> list[Any]:
    return [] if declared is None else sorted(set(found).difference(declared))


def checked_support(backend: object, suite: Suite) -> Support:
    """Return what `backend` declares in `support`, checked against what `suite` has.

    Raises:
        BackendError: it is of another form, or names what there is not.
    """
    found = declared_support(backend)
    for name, meant in misspelt_operators(found.declared or {}, suite).items():
        raise BackendError(f"support: unknown operator '{name}'; did you mean '{meant}'?")
    for name, support in (found.declared or {}).items():
        if name in suite.operators:
            operator = suite.operators[name]
            known = sorted(operator.exclusions)
            _check_names(f"rule or level of {name}", support.excluded, known)
            _check_names(f"input of {name}", support.named_inputs, operator.input_names)
    return found


def unknown_operators(declared: Collection[str], suite: Suite) -> list[str]:
    """Return which of the `declared` operators neither `suite` nor that of opcert has."""
    known = {*suite.operators, *read_manifest(core_suite_folder()).operators}
    return [name for name in declared if name not in known]


def misspelt_operators(declared: Collection[str], suite: Suite) -> dict[str, str]:
    """Return which `declared` operators are slips of the pen, each with what it means of `suite`.

    There may be more operators than a suite has: another number is another version, and what is
    declared itself is not what another name means.
    """
    left = {name.casefold(): name for name in suite.operators if name not in declared}
    near = {
        name: left[each[0]]
        for name in unknown_operators(declared, suite)
        if (each := get_close_matches(name.casefold(), left, n=1, cutoff=_ALIKE))
    }
    return {name: meant for name, meant in near.items() if _unnumbered(name) != _unnumbered(meant)}


def _unnumbered(name: str) -> str:
    return re.sub(r"\d+", "", name)


def declared_support(backend: object) -> Support:
    """Return what `backend` declares in `support`, of whatever operators.

    Raises:
        BackendError: it is of another form, or names an element type that there is not.
    """
    with as_backend_error("support"):
        try:
            declared = getattr(backend, "support", None)
            if declared is None:
                return Support(None)
            checked = TypeAdapter(dict[str, OperatorSupport]).validate_python(dict(declared))
        except ValidationError as error:
            raise BackendError(_told(error)) from None
        except Exception as error:
            raise BackendError(
                f"support: {describe_error(error)}; expected a mapping by operator"
            ) from None
    _check_writable(Support(checked))
    for name, support in checked.items():
        for types in (support.types, support.index_types, *support.input_types.values()):
            _check_names(f"type of {name}", types or (), list(ELEMENT_TYPES))
    return Support(checked)


def _check_writable(support: Support) -> None:
    """Refuse half a character, and a number of thousands of digits."""
    try:
        json.dumps(support.described(), ensure_ascii=False).encode()
    except ValueError as error:
        text = f"cannot be written as JSON: {error}; expected plain text and small numbers"
        raise BackendError(f"support: {text}") from None


def _told(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        near = did_you_mean(str(first["loc"][-1]), list(OperatorSupport.model_fields))
        return f"support: unknown key {where}{near}"
    return f"support: {where}: found {safe_repr(first['input'])}; {first['msg']}"


def _check_names(what: str, found: Iterable[str], known: list[str]) -> None:
    for name in found:
        if name not in known:
            raise BackendError(f"support: unknown {what} '{name}'{did_you_mean(name, known)}")
