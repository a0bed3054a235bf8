"""The model of a spec: what a YAML file in specs/ may say about an operator."""

import json
from functools import cached_property
from typing import Annotated, Any, Literal, Union

from pydantic import BeforeValidator, Field, JsonValue, ValidationInfo

from opcert.arrays import TYPE_SETS
from opcert.roles import (
    ROLES,
    Argument,
    Attribute,
    ExpressionText,
    Input,
    KebabCaseId,
    Role,
    SpecModel,
    role_classes,
)
from opcert.specification.documented import WrittenTensor
from opcert.specification.expressions import EXPRESSION_CONSTANTS

LevelName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Violations = dict[KebabCaseId, dict[str, ExpressionText]]
Levels = ExpressionText | dict[LevelName, ExpressionText]
OtherProfile = Literal["full", "stress"]
Seen = ExpressionText | dict[LevelName, ExpressionText]


def _with_role(plain: type[SpecModel]) -> BeforeValidator:
    """Return what reads an argument: one of a role's class where it names a role."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        kind = plain
        if "role" in value:
            known = {**role_classes(), **(info.context or {}).get("roles", {})}
            if value["role"] not in known:
                raise ValueError(f"a role: {', '.join(known)}")
            kind = known[value["role"]]
        return kind.model_validate_json(json.dumps(value))

    form: Any = Union[(plain, *ROLES.values())]
    return BeforeValidator(read, json_schema_input_type=form)


InputPart = Annotated[Input | Role, _with_role(Input)]
AttributePart = Annotated[Attribute | Role, _with_role(Attribute)]


class Document(SpecModel):
    """The document that the spec states."""

    title: str
    version: str
    language: str = "en"
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="The SHA-256 of the text that the spec was written from."
    )


class Output(SpecModel):
    """One output, or `count` of them; `i` is its number in `shape`."""

    name: str
    type: str = Field(description="The type symbol that it shares with a required input.")
    shape: ExpressionText
    count: ExpressionText = "1"
    element: ExpressionText | None = Field(
        None,
        description="The document's formula: the element of an input that the element `at`, a "
        "tuple of indices, of output `i` is, as in `data[at]`, or 0. The golden outputs are held "
        "against it, independently of the reference.",
    )
    where: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], ExpressionText] = Field(
        default_factory=dict, description="Names in `element`, each over what precedes it."
    )
    text: str


class Rule(SpecModel):
    """One normative statement: a requirement (`holds`) or a behaviour (`when`)."""

    id: KebabCaseId
    kind: Literal["requirement", "behaviour"] = "behaviour"
    derived: str | None = Field(
        None,
        alias="from",
        description="What a role requires, such as axis.range; text and condition follow from it.",
    )
    clause: str = Field(description="Where in the document it stands.")
    text: str = ""
    when: ExpressionText = Field("True", description="The calls that the rule speaks of.")
    holds: ExpressionText | None = Field(
        None, description="Over inputs and attributes; a behaviour's also over `outputs`."
    )
    given: tuple[KebabCaseId, ...] = Field(
        (), description="The requirements without which it is moot."
    )
    violations: Violations = Field(
        default_factory=dict,
        description="Changes to a valid call that break it alone, beside the mutations.",
    )
    unbreakable: str | None = Field(None, description="Why it cannot be broken alone.")


class Readings(SpecModel):
    """The two ways to read the document, each with its argument from the text."""

    valid: str = Field(description="What the call gives, and why it may be made.")
    invalid: str = Field(description="Why the call must be rejected.")


class Ambiguity(SpecModel):
    """A question that the document leaves open; it decides no certificate.

    Which of the two readings the reference takes follows from the rules that a call breaks: where
    it breaks none, the call is valid.
    """

    id: KebabCaseId
    clause: str
    text: str
    readings: Readings
    breaks: tuple[KebabCaseId, ...] = Field(
        (),
        description="The requirements that a call may break because the reference takes the "
        "reading by which it is invalid. One that breaks another is invalid in both readings.",
    )
    derived: str | None = Field(
        None,
        alias="from",
        description="What a role leaves open, such as indices.range; `touches` follows from it.",
    )
    touches: ExpressionText = Field("", description="Whether a call depends on it.")
    violations: Violations = Field(
        default_factory=dict,
        description="Changes to a valid call that come to depend on it, beside the mutations.",
    )


class Erratum(SpecModel):
    """Where the document contradicts itself, and how it is read."""

    id: KebabCaseId
    clause: str
    text: str
    reading: str
    affects: tuple[KebabCaseId, ...] = Field(
        min_length=1, description="The rules, ambiguities and examples that rest on the reading."
    )


class Example(SpecModel):
    """A call that the document shows, with what it gives."""

    id: KebabCaseId
    clause: str
    text: str
    inputs: dict[str, WrittenTensor]
    attributes: dict[str, JsonValue] = Field(default_factory=dict)
    outputs: tuple[WrittenTensor, ...]


class LawCall(SpecModel):
    """A call that a law makes beside the one that it speaks of; None leaves an argument out."""

    operator: str | None = Field(None, description="Another operator's id; by default this one's.")
    inputs: dict[str, ExpressionText] = Field(
        description="Tensors: of the call, of the outputs so far, or built."
    )
    attributes: dict[str, ExpressionText] = Field(default_factory=dict)


class Law(SpecModel):
    """What outputs have to do with inputs, or with the outputs of further calls."""

    id: KebabCaseId
    clause: str = Field(description="Where the document says what the law follows from.")
    text: str
    when: ExpressionText = Field("True", description="The calls that the law speaks of.")
    calls: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], LawCall] = Field(
        default_factory=dict, description="Further calls; each name then stands for the outputs."
    )
    holds: ExpressionText = Field(
        description="Over inputs, attributes, `outputs` and the outputs of further calls."
    )


class FeatureLevel(SpecModel):
    """The ranks and types that one feature level supports."""

    name: str
    ranks: tuple[int, int]
    types: tuple[str, ...]


class FactorTable(SpecModel):
    """The input space of the valid calls, and how one is built from a choice of levels."""

    factors: dict[str, Levels] = Field(
        default_factory=dict,
        description="Each factor's levels by name, or an expression that lists them.",
    )
    additional: dict[str, dict[LevelName, ExpressionText]] = Field(
        default_factory=dict, description="More levels of factors that roles have."
    )
    profiles: dict[OtherProfile, dict[str, Levels]] = Field(
        default_factory=dict, description="Other levels of some factors in another profile."
    )
    full_combinations: tuple[tuple[str, ...], ...] = Field(
        default=(),
        description="Factors of which every combination is covered, however many they are.",
    )
    derived: dict[str, ExpressionText] = Field(
        default_factory=dict, description="Factors whose level, by name, the others decide."
    )
    constraints: tuple[ExpressionText, ...] = Field(
        default=(), description="Combinations that cannot occur."
    )
    draw: dict[str, ExpressionText] = Field(
        default_factory=dict, description="Ordered draws, each over what precedes it."
    )
    inputs: dict[str, ExpressionText] = Field(default_factory=dict)
    attributes: dict[str, ExpressionText] = Field(default_factory=dict)
    places: dict[str, ExpressionText] = Field(
        default_factory=dict,
        max_length=1,
        description="A name and its values: the places of a call at which the factors show.",
    )
    observe: dict[str, Seen] = Field(
        default_factory=dict,
        description="How each factor shows in a drawn call: the value of its level, a list of such "
        "values, or a condition for each level. Other names are for those behind them to use.",
    )
    words: dict[str, str | dict[LevelName, str]] = Field(
        default_factory=dict,
        description="What to call a level in a sentence: for all levels of a factor, with {} for "
        "the level, or for single ones; nothing where it is not worth a word. By default it is the "
        "factor's name, then the level's.",
    )

    def levels(self, profile: str) -> dict[str, Levels]:
        """Return the levels of each factor in a profile."""
        others = [levels for name, levels in self.profiles.items() if name == profile]
        return {**self.factors, **(others[0] if others else {})}


class Spec(SpecModel):
    """Everything that the generator knows about one operator."""

    operator: str = Field(pattern=r"^[a-z0-9_]+/[A-Za-z0-9_-]+$")
    slug: KebabCaseId = Field(description="The prefix of every rule and case id.")
    version: int = Field(ge=1, description="Of this spec; raised with every change of meaning.")
    document: Document
    reference: str = Field(
        pattern=r"^[\w./-]+:\w+$", description="module:function, or file.py:function beside it."
    )
    types: dict[str, Literal["any", "integer"] | tuple[str, ...]]
    roles: dict[str, str] = Field(
        default_factory=dict,
        description="Roles of one's own by name: module:Class, or file.py:Class beside the spec.",
    )
    constants: dict[str, dict[str, str]] = Field(default_factory=dict)
    inputs: tuple[InputPart, ...] = Field(min_length=1)
    attributes: tuple[AttributePart, ...] = ()
    outputs: tuple[Output, ...] = Field(min_length=1)
    rules: tuple[Rule, ...] = Field(min_length=1)
    ambiguities: tuple[Ambiguity, ...] = ()
    errata: tuple[Erratum, ...] = ()
    laws: tuple[Law, ...] = ()
    feature_levels: tuple[FeatureLevel, ...] = ()
    examples: tuple[Example, ...] = ()
    cases: FactorTable = Field(default_factory=FactorTable)

    @cached_property
    def family(self) -> str:
        """The folder of the suite that the operator's files are in."""
        return self.operator.partition("/")[0]

    @cached_property
    def type_sets(self) -> dict[str, tuple[str, ...]]:
        """The element types behind each type symbol."""
        return {
            symbol: TYPE_SETS[types] if isinstance(types, str) else types
            for symbol, types in self.types.items()
        }

    @cached_property
    def fixed_names(self) -> dict[str, Any]:
        """What names mean in every expression of the spec, whatever the call."""
        return {**EXPRESSION_CONSTANTS, **self.constants, **self.type_sets}

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs, then the attributes."""
        return (*self.inputs, *self.attributes)

    @cached_property
    def bound_roles(self) -> tuple[Role, ...]:
        """The arguments that have a role."""
        return tuple(each for each in self.arguments if isinstance(each, Role))

    @cached_property
    def leading(self) -> Input | Role:
        """The first required input, after whose type and rank a case is counted."""
        return next(each for each in self.inputs if each.required)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """What an omitted input (nothing) or attribute (its default) counts as."""
        inputs: dict[str, Any] = {each.name: None for each in self.inputs}
        return inputs | {each.name: each.default for each in self.attributes}

    @cached_property
    def requirements(self) -> dict[str, Rule]:
        """The requirements by id, as the spec orders them, each behind its prerequisites."""
        named = {rule.id: rule for rule in self.rules if rule.kind == "requirement"}
        ordered: dict[str, Rule] = {}

        def place(rule: Rule, dependent: tuple[str, ...]) -> None:
            # Prerequisites that go in circles are a mistake, which is found elsewhere.
            if rule.id not in (*ordered, *dependent):
                for name in rule.given:
                    if name in named:
                        place(named[name], (*dependent, rule.id))
                ordered[rule.id] = rule

        for rule in named.values():
            place(rule, ())
        return ordered

    @cached_property
    def behaviours(self) -> dict[str, Rule]:
        """The behaviours by id."""
        return {rule.id: rule for rule in self.rules if rule.kind == "behaviour"}

    def with_parts(self, **parts: Any) -> "Spec":
        """Return the spec with some of its parts replaced."""
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct(self.model_fields_set, **{**kept, **parts})

    def full_id(self, name: str) -> str:
        """Return the id under which the world knows a rule, an ambiguity or a case."""
        return f"{self.slug}/{name}"

    def full_ids(self, *names: str) -> tuple[str, ...]:
        """Return the full id of each of `names`."""
        return tuple(map(self.full_id, names))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors."""
    return Spec.model_json_schema(mode="validation")
