"""Declared support: the calls that a backend declares to support."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Annotated, Any, NamedTuple, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from opcert.arrays.calls import Call
from opcert.arrays.element_types import ELEMENT_TYPES
from opcert.backends.contract import as_backend_error
from opcert.cases.conditions import Conditions
from opcert.errors import BackendError, describe_error, did_you_mean, safe_repr
from opcert.specification.files import shipped_operators
from opcert.suite.format import IndexedCase, index_types_of, input_types_of
from opcert.suite.suite import Suite
from opcert.yaml_files import YamlPath

# Names of operators share family and version, so only very similar names are misspellings.
_MISSPELLING_CUTOFF = 0.9


# How a backend may implement an operator.
_HOW = ["native", "composed"]
_AsList = BeforeValidator(
    lambda value: list(value) if isinstance(value, tuple | range | set | frozenset) else value
)


class OperatorScope(BaseModel):
    """The calls of one operator that are in scope. An absent part restricts nothing.

    `types` and `ranks` restrict the first input, `index_types` all other inputs, `input_types`
    single inputs by name. The inputs in each list of `same_types` must share one type. `excluded`
    lists rules.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    types: Annotated[list[str] | None, _AsList] = None
    index_types: Annotated[list[str] | None, _AsList] = None
    input_types: dict[str, Annotated[list[str], _AsList]] = {}
    same_types: Annotated[list[Annotated[list[str], _AsList]], _AsList] = []
    ranks: Annotated[list[int] | None, _AsList] = None
    excluded: Annotated[list[str], _AsList] = []

    def exclusion_reason(self, case: "CaseProperties") -> str | None:
        """Return the property that excludes `case`, such as "rank 7", or None if it is in scope."""
        if self.types is not None and case.type not in self.types:
            return f"type {case.type}"
        if self.index_types is not None and not case.index_types <= set(self.index_types):
            return f"index type {min(case.index_types.difference(self.index_types))}"
        for name, types in self.input_types.items():
            if name in case.input_types and case.input_types[name] not in types:
                return f"{name} of type {case.input_types[name]}"
        for group in self.same_types:
            types_of = {name: case.input_types[name] for name in group if name in case.input_types}
            if len({*types_of.values()}) > 1:
                inputs = ", ".join(f"{name} {of_type}" for name, of_type in types_of.items())
                return f"different types of {inputs}"
        if self.ranks is not None and case.rank not in self.ranks:
            return f"rank {case.rank}"
        return min({*case.rules}.intersection(self.excluded), default=None)


class OperatorSupport(OperatorScope):
    """The supported calls of one operator, and `how` it is implemented; text may follow a colon."""

    how: str


class CallProperties(NamedTuple):
    """The properties of a valid call that no case has."""

    type: str
    rank: int
    index_types: frozenset[str]
    input_types: Mapping[str, str]
    rules: tuple[str, ...]

    @classmethod
    def of(cls, call: Call, conditions: Conditions) -> Self:
        """Return the properties of a call of the operator that has these conditions."""
        satisfied = conditions.check(call).satisfied
        first = next(iter(call.inputs.values()))
        types = {key: tensor.type for key, tensor in call.inputs.items()}
        return cls(
            first.type,
            first.rank,
            index_types_of(types),
            input_types_of(types, call.attributes),
            conditions.spec.full_ids(*satisfied, *conditions.behaviours(call)),
        )


# What has the properties that a scope depends on.
CaseProperties: TypeAlias = IndexedCase | CallProperties


@dataclass(frozen=True)
class Support:
    """The declared support of each operator; None declares support of everything."""

    declared: Mapping[str, OperatorSupport] | None

    def to_dict(self) -> dict[str, Any] | None:
        """Return the declaration as plain data for a certificate."""
        if self.declared is None:
            return None
        return {name: of.model_dump(exclude_unset=True) for name, of in self.declared.items()}

    def exclusion_reason(self, operator: str, case: CaseProperties) -> str | None:
        """Return the reason why the declaration excludes `case`, or None."""
        if self.declared is None:
            return None
        if operator in self.declared:
            reason = self.declared[operator].exclusion_reason(case)
        else:
            near = get_close_matches(operator, self.declared, n=1)
            reason = operator + "".join(f"; it has '{name}'" for name in near)
        return None if reason is None else f"the declared support excludes {reason}"


def declared_support(backend: object) -> Support:
    """Return the declared support of `backend`, for known and unknown operators.

    Raises:
        BackendError: the declaration is malformed or names an unknown element type.
    """
    with as_backend_error("support"):
        try:
            declared = getattr(backend, "support", None)
            if declared is None:
                return Support(None)
            validated = TypeAdapter(dict[str, OperatorSupport]).validate_python(dict(declared))
        except ValidationError as error:
            raise BackendError(_validation_message(error)) from None
        except Exception as error:
            text = f"support: {describe_error(error)}; expected a mapping by operator"
            raise BackendError(text) from None
    support = Support(validated)
    try:
        # JSON has no lone surrogates, and Python writes no numbers with thousands of digits.
        json.dumps(support.to_dict(), ensure_ascii=False).encode()
    except ValueError as error:
        text = f"cannot be written as JSON: {error}; expected plain text and small numbers"
        raise BackendError(f"support: {text}") from None
    _refuse_unknown_names(support)
    return support


def checked_support(backend: object, suite: Suite) -> Support:
    """Return the declared support of `backend`, with all names checked against `suite`.

    Raises:
        BackendError: the declaration is malformed or has an unknown name.
    """
    support = declared_support(backend)
    for name, intended in misspelt_operators(support.declared or {}, suite).items():
        raise BackendError(f"support: unknown operator '{name}'; did you mean '{intended}'?")
    _refuse_unknown_names(support, suite)
    return support


def _refuse_unknown_names(support: Support, suite: Suite | None = None) -> None:
    for name, scope in (support.declared or {}).items():
        how = scope.how.partition(":")[0]
        if how not in _HOW:
            raise BackendError(f"support: {_unknown(f'how of {name}', how, _HOW)}")
        for _, text in unknown_names(name, scope, suite):
            raise BackendError(f"support: {text}")


def unknown_names(
    name: str, scope: OperatorScope, suite: Suite | None = None
) -> Iterator[tuple[YamlPath, str]]:
    """Yield each unknown name in the scope of an operator: its place, and a message.

    Without the suite of the operator, only the names of types are checked.
    """
    # The place of a list in the scope, the noun for its items, the items, the known items.
    noun, known = f"type of {name}", [*ELEMENT_TYPES]
    lists: list[tuple[YamlPath, str, list[str], list[str]]] = [
        (("types",), noun, scope.types or [], known),
        (("index_types",), noun, scope.index_types or [], known),
        *((("input_types", key), noun, types, known) for key, types in scope.input_types.items()),
    ]
    # Without names to check, the operator need not be read.
    named = {*scope.input_types, *chain.from_iterable(scope.same_types)}
    if suite is not None and name in suite.operators and (scope.excluded or named):
        operator, noun = suite.operators[name], f"input of {name}"
        known = operator.input_names
        for key in scope.input_types:
            if key not in known:
                yield ("input_types", key), _unknown(noun, key, known)
        lists += [(("same_types", i), noun, g, known) for i, g in enumerate(scope.same_types)]
        lists.append((("excluded",), f"rule of {name}", scope.excluded, [*operator.index.rules]))
    for place, noun, items, known in lists:
        for i, item in enumerate(items):
            if item not in known:
                yield (*place, i), _unknown(noun, item, known)


def _unknown(noun: str, name: str, known: list[str]) -> str:
    return f"unknown {noun} '{name}'{did_you_mean(name, known)}"


def _validation_message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        near = did_you_mean(str(first["loc"][-1]), list(OperatorSupport.model_fields))
        return f"support: unknown key {place}{near}"
    return f"support: {place}: found {safe_repr(first['input'])}; {first['msg']}"


def unknown_operators(names: Collection[str], suite: Suite) -> list[str]:
    """Return the names that are operators neither of `suite` nor of the shipped specs."""
    known = {*suite.operators, *shipped_operators()}
    return [name for name in names if name not in known]


def misspelt_operators(names: Collection[str], suite: Suite) -> dict[str, str]:
    """Return the misspelt names of operators with the intended operators of `suite`.

    A declaration may have operators that the suite lacks. So a name that differs in digits is
    another version, and an operator among `names` is not the intended one of another name.
    """
    unnamed = {name.casefold(): name for name in suite.operators if name not in names}

    def without_digits(name: str) -> str:
        return re.sub(r"\d+", "", name)

    return {
        name: unnamed[near]
        for name in unknown_operators(names, suite)
        for near in get_close_matches(name.casefold(), unnamed, 1, _MISSPELLING_CUTOFF)
        if without_digits(name) != without_digits(unnamed[near])
    }
