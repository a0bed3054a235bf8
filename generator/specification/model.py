"""The model of a spec: the keys of a YAML file in specs/, and mistakes in their values."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, JsonValue

from opcert.arrays.calls import tensor_key
from opcert.arrays.element_types import INTEGERS, TYPE_SETS
from opcert.errors import ExpressionError, did_you_mean
from opcert.roles.argument import Argument, ExpressionText, Input, KebabCaseId, SpecModel
from opcert.roles.data import DataRole, PlainDataRole
from opcert.roles.role import ListRole, Role
from opcert.roles.tensors import FillRole
from opcert.specification.expressions import (
    EXPRESSION_CONSTANTS,
    EXPRESSION_FUNCTIONS,
    TENSOR_ATTRIBUTES,
    AttributePart,
    Functions,
    InputPart,
    WrittenInput,
    WrittenTensor,
    parse_expression,
)
from opcert.yaml_files import YamlPath

# A name in expressions for a value that a spec defines.
ValueName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
# The attributes that each known name has in expressions.
KnownNames: TypeAlias = Mapping[str, tuple[str, ...]]
Violations = dict[KebabCaseId, dict[str, ExpressionText]]


class Document(SpecModel):
    """The document that the spec describes."""

    title: str
    version: str
    language: str = "en"
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="The SHA-256 of the text that the spec was written from."
    )
    source: str | None = Field(
        None, description="Where the text can be found, such as owner/repository@commit:path."
    )


class Output(SpecModel):
    """One output, or `count` outputs; expressions can use the number `i` of an output."""

    name: str
    type: str = Field(
        description="The type symbol that it shares with a required input, an element type, or an "
        "expression of the name of one."
    )
    shape: ExpressionText
    count: ExpressionText = "1"
    element: ExpressionText | None = Field(
        None,
        description="The document's formula for the element with the index `at`, a tuple, of "
        "output `i`: an element of an input, such as `data[at]`, or a number. It is evaluated "
        "independently of the reference and compared with its outputs.",
    )
    where: dict[ValueName, ExpressionText] = Field(
        default_factory=dict,
        description="Names for use in `element`; each can use those before it.",
    )
    computed: bool = Field(
        False,
        description="Whether `element` computes with numbers, whose roundings the document leaves "
        "open: arithmetics allow results about what the formula gives.",
    )
    forms: tuple[ExpressionText, ...] = Field(
        (), description="Other formulas of computed elements that give as tight results."
    )
    open: ExpressionText = Field(
        "False", description="Of which computed elements the document leaves everything open."
    )
    text: str

    @property
    def has_candidates(self) -> bool:
        """Whether the formula lists candidates, of which the document may leave several open."""
        return self.element is not None and "one_of(" in self.element


class Passage(SpecModel):
    """What a spec takes from a place in the document; the base class of all that has an id."""

    id: KebabCaseId
    clause: str = Field(description="The place in the document.")
    text: str


class Rule(Passage):
    """One normative statement: a requirement (`holds`) or a behaviour (`when`)."""

    text: str = ""
    kind: Literal["requirement", "behaviour"] = "behaviour"
    derived: str | None = Field(
        None,
        alias="from",
        description="A requirement of a role, such as axis.range; text and condition follow.",
    )
    when: ExpressionText = Field("True", description="The calls to which the rule applies.")
    holds: ExpressionText | None = Field(
        None, description="A condition on inputs and attributes, of a behaviour also on `outputs`."
    )
    prerequisites: tuple[KebabCaseId, ...] = Field(
        (), description="The earlier requirements that a call must meet for this one to apply."
    )
    violations: Violations = Field(
        default_factory=dict,
        description="Changes to a valid call that violate only this rule, besides the mutations.",
    )


class Readings(SpecModel):
    """The two readings of the document, each with its argument from the text."""

    valid: str = Field(description="What the call returns, and why it is valid.")
    invalid: str = Field(description="Why the call must be rejected.")


class Ambiguity(Passage):
    """A question that the document leaves open; it never decides a certificate.

    The reference takes the reading that follows from the rules: a call that violates none is valid.
    """

    readings: Readings | None = None
    elements: str = Field(
        "",
        description="If only some elements of the outputs are open: what each of them may be. "
        "`element` then lists the candidates with `one_of`, and all other elements are decisive.",
    )
    breaks: tuple[KebabCaseId, ...] = Field(
        (),
        description="The requirements that a call violates where the reference takes the reading "
        "by which it is invalid. A call that violates others is invalid in both readings.",
    )
    derived: str | None = Field(
        None,
        alias="from",
        description="An ambiguity of a role, such as indices.range; `touches` follows from it.",
    )
    touches: ExpressionText = Field("", description="The calls that depend on it.")
    violations: Violations = Field(
        default_factory=dict,
        description="Changes to a valid call that make it depend on this, besides the mutations.",
    )


class Erratum(Passage):
    """A contradiction in the document, and how it is read."""

    reading: str
    affects: tuple[KebabCaseId, ...] = Field(
        min_length=1, description="The rules, ambiguities and examples that rest on the reading."
    )


class Example(Passage):
    """A call in the document, with its outputs."""

    inputs: dict[str, WrittenInput]
    attributes: dict[str, JsonValue] = Field(default_factory=dict)
    outputs: tuple[WrittenTensor, ...]


class LawCall(SpecModel):
    """A further call that a law makes; None omits an argument."""

    operator: str | None = Field(None, description="Another operator's id; by default this one's.")
    inputs: dict[str, ExpressionText] = Field(
        description="Tensors: inputs, outputs so far, or new ones."
    )
    attributes: dict[str, ExpressionText] = Field(default_factory=dict)


class Law(Passage):
    """A relation of outputs to inputs, or to the outputs of further calls."""

    clause: str = Field(description="The place in the document that the law follows from.")
    when: ExpressionText = Field("True", description="The calls to which the law applies.")
    calls: dict[ValueName, LawCall] = Field(
        default_factory=dict, description="Further calls by name; the name then has their outputs."
    )
    holds: ExpressionText = Field(
        description="A condition on inputs, attributes, `outputs` and further calls."
    )


class FeatureLevel(SpecModel):
    """The ranks and types that one feature level supports."""

    name: str
    ranks: tuple[int, int]
    types: tuple[str, ...]


class Spec(SpecModel):
    """Everything that opcert knows about one operator."""

    operator: str = Field(pattern=r"^[a-z0-9_]+/[A-Za-z0-9_-]+$")
    slug: KebabCaseId = Field(description="The prefix of every rule and case id.")
    version: int = Field(
        ge=1, description="The version of this spec, raised with every change of meaning."
    )
    document: Document
    reference: str = Field(
        pattern=r"^[\w./-]+:\w+$",
        description="module:function, or file.py:function next to the spec.",
    )
    types: dict[str, Literal["any", "numeric", "integer"] | tuple[str, ...]]
    roles: dict[str, str] = Field(
        default_factory=dict,
        description="Custom roles by name: module:Class, or file.py:Class next to the spec.",
    )
    constants: dict[str, dict[str, str]] = Field(default_factory=dict)
    names: dict[ValueName, ExpressionText] = Field(
        default_factory=dict,
        description="Names for values of a call, for use in conditions, shapes and formulas; each "
        "can use those before it.",
    )
    inputs: tuple[InputPart, ...] = Field(min_length=1)
    attributes: tuple[AttributePart, ...] = ()
    outputs: tuple[Output, ...] = Field(min_length=1)
    rules: tuple[Rule, ...] = Field(min_length=1)
    ambiguities: tuple[Ambiguity, ...] = ()
    errata: tuple[Erratum, ...] = ()
    laws: tuple[Law, ...] = ()
    feature_levels: tuple[FeatureLevel, ...] = ()
    examples: tuple[Example, ...] = ()

    @cached_property
    def family(self) -> str:
        """The folder of the operator's files in a suite."""
        return self.operator.partition("/")[0]

    @cached_property
    def type_sets(self) -> dict[str, tuple[str, ...]]:
        """The element types of each type symbol."""
        return {
            symbol: TYPE_SETS[types] if isinstance(types, str) else types
            for symbol, types in self.types.items()
        }

    @cached_property
    def fixed_names(self) -> dict[str, Any]:
        """The names that have the same value in every expression of the spec."""
        return {**EXPRESSION_CONSTANTS, **self.constants, **self.type_sets}

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The inputs, then the attributes."""
        return (*self.inputs, *self.attributes)

    @cached_property
    def located_arguments(self) -> list[tuple[tuple[str, int], Argument]]:
        """The arguments with their paths in the spec."""
        parts = (("inputs", self.inputs), ("attributes", self.attributes))
        return [((part, i), argument) for part, own in parts for i, argument in enumerate(own)]

    @cached_property
    def bound_roles(self) -> tuple[Role, ...]:
        """The arguments that have a role."""
        return tuple(argument for argument in self.arguments if isinstance(argument, Role))

    @cached_property
    def number_inputs(self) -> tuple[str, ...]:
        """The inputs whose elements are numbers that a call fixes, such as axes or lengths."""
        return tuple(
            argument.name
            for argument in self.inputs
            if isinstance(argument, ListRole)
            or (isinstance(argument, PlainDataRole) and argument.read)
            or (
                not isinstance(argument, DataRole | FillRole)
                and set(self.type_sets[argument.type]) <= set(INTEGERS)
            )
        )

    @cached_property
    def leading(self) -> Input | Role:
        """The first required input; its type and rank are those of a case."""
        return next(argument for argument in self.inputs if argument.required)

    @cached_property
    def leading_key(self) -> str:
        """The key of the first required input in a call, or of its first tensor."""
        name = self.leading.name
        return name if self.leading.variadic is None else tensor_key(name, 0)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The value of each omitted argument: None for an input, the default of an attribute."""
        inputs: dict[str, Any] = dict.fromkeys((argument.name for argument in self.inputs), None)
        return inputs | {attribute.name: attribute.default for attribute in self.attributes}

    @cached_property
    def call_names(self) -> KnownNames:
        """The names that a condition on a call can use."""
        constants = (*EXPRESSION_CONSTANTS, *self.constants, *self.types, "omitted")
        # A variadic input is a list, whose tensors have the attributes.
        tensors = [argument.name for argument in self.inputs if argument.variadic is None]
        return {
            **dict.fromkeys((*constants, *self.defaults, *self.names), ()),
            **dict.fromkeys(tensors, TENSOR_ATTRIBUTES),
        }

    @cached_property
    def requirements(self) -> dict[str, Rule]:
        """The requirements by id, in the order of the spec, but after their prerequisites."""
        named = {rule.id: rule for rule in self.rules if rule.kind == "requirement"}
        ordered: dict[str, Rule] = {}

        def place(rule: Rule, dependent: tuple[str, ...]) -> None:
            # Circular prerequisites are a mistake that the checks report.
            if rule.id not in (*ordered, *dependent):
                for name in rule.prerequisites:
                    if name in named:
                        place(named[name], (*dependent, rule.id))
                ordered[rule.id] = rule

        for rule in named.values():
            place(rule, ())
        return ordered

    @cached_property
    def call_ambiguities(self) -> tuple[Ambiguity, ...]:
        """The ambiguities that leave open what a whole call expects, not just some elements."""
        return tuple(ambiguity for ambiguity in self.ambiguities if not ambiguity.elements)

    @cached_property
    def behaviours(self) -> dict[str, Rule]:
        """The behaviours by id."""
        return {rule.id: rule for rule in self.rules if rule.kind == "behaviour"}

    def with_parts(self, **parts: Any) -> "Spec":
        """Return the spec with some of its parts replaced."""
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct(self.model_fields_set, **{**kept, **parts})

    def full_id(self, name: str) -> str:
        """Return the public id of a rule, an ambiguity or a case."""
        return f"{self.slug}/{name}"

    def full_ids(self, *names: str) -> tuple[str, ...]:
        """Return the full id of each of `names`."""
        return tuple(map(self.full_id, names))


# Each mistake is a path into the spec and a text.
Mistakes: TypeAlias = Iterator[tuple[YamlPath, str]]


def unknown_name(path: YamlPath, kind: str, name: str, known: Iterable[str]) -> Mistakes:
    """Yield a mistake if `name` is not among the `known` names of its `kind`."""
    if name not in (names := list(known)):
        yield path, f"unknown {kind} '{name}'{did_you_mean(name, names)}"


def expression_mistakes(
    path: YamlPath, text: str, known: KnownNames, functions: Functions = EXPRESSION_FUNCTIONS
) -> Mistakes:
    """Yield the mistakes in the expression at `path`, which can use `known` and `functions`."""
    try:
        messages = parse_expression(text).mistakes(known, functions)
    except ExpressionError as error:
        messages = [str(error)]
    for message in messages:
        yield path, message


def is_misspelt_as(name: str, written: Iterable[str], known: Collection[str]) -> bool:
    """Whether the missing `name` resembles an unknown name in `written`, so is misspelt there."""
    return bool(get_close_matches(name, [other for other in written if other not in known]))
