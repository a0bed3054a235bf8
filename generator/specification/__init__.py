"""What an operator is: the model of a spec, its expressions, and every mistake with its place."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.specification.documented import DocumentedTensor
    from opcert.specification.elementwise import FORMULA_FUNCTIONS, parse_elementwise
    from opcert.specification.elementwise_values import (
        OUTSIDE_SOURCE,
        ZERO_SOURCE,
        CandidateElements,
        ElementwiseValues,
        IndexedInput,
        IndexedInputs,
        candidate_functions,
        source_positions,
    )
    from opcert.specification.expression_functions import EXPRESSION_FUNCTIONS
    from opcert.specification.expressions import (
        EvaluationScope,
        Expression,
        abbreviate,
        evaluate,
        evaluate_condition,
        evaluate_condition_in,
        evaluate_in,
        evaluate_integer,
        evaluation_scope,
        parse_expression,
        subexpression,
    )
    from opcert.specification.files import SpecFile, read_spec, read_specs, read_specs_in
    from opcert.specification.model import (
        Ambiguity,
        Erratum,
        Example,
        Law,
        LawCall,
        Levels,
        Output,
        Rule,
        Spec,
        json_schema,
    )
    from opcert.specification.named_values import bind_names, needed_names, with_named_values
    from opcert.specification.references import (
        Reference,
        RejectedError,
        call_reference,
        find_spec_files,
        golden_outputs,
        load_references,
        shipped_operators,
    )

__all__ = [
    "EXPRESSION_FUNCTIONS",
    "FORMULA_FUNCTIONS",
    "OUTSIDE_SOURCE",
    "ZERO_SOURCE",
    "Ambiguity",
    "CandidateElements",
    "DocumentedTensor",
    "ElementwiseValues",
    "Erratum",
    "EvaluationScope",
    "Example",
    "Expression",
    "IndexedInput",
    "IndexedInputs",
    "Law",
    "LawCall",
    "Levels",
    "Output",
    "Reference",
    "RejectedError",
    "Rule",
    "Spec",
    "SpecFile",
    "abbreviate",
    "bind_names",
    "call_reference",
    "candidate_functions",
    "evaluate",
    "evaluate_condition",
    "evaluate_condition_in",
    "evaluate_in",
    "evaluate_integer",
    "evaluation_scope",
    "find_spec_files",
    "golden_outputs",
    "json_schema",
    "load_references",
    "needed_names",
    "parse_elementwise",
    "parse_expression",
    "read_spec",
    "read_specs",
    "read_specs_in",
    "shipped_operators",
    "source_positions",
    "subexpression",
    "with_named_values",
]

# To call a reference takes little of this package.
__getattr__ = lazy_attributes(
    __name__,
    {
        "documented": ("DocumentedTensor",),
        "elementwise": ("FORMULA_FUNCTIONS", "parse_elementwise"),
        "elementwise_values": (
            "OUTSIDE_SOURCE",
            "ZERO_SOURCE",
            "CandidateElements",
            "ElementwiseValues",
            "IndexedInput",
            "IndexedInputs",
            "candidate_functions",
            "source_positions",
        ),
        "expression_functions": ("EXPRESSION_FUNCTIONS",),
        "expressions": (
            "EvaluationScope",
            "Expression",
            "abbreviate",
            "evaluate",
            "evaluate_condition",
            "evaluate_condition_in",
            "evaluate_in",
            "evaluate_integer",
            "evaluation_scope",
            "parse_expression",
            "subexpression",
        ),
        "files": ("SpecFile", "read_spec", "read_specs", "read_specs_in"),
        "model": (
            "Ambiguity",
            "Erratum",
            "Example",
            "Law",
            "LawCall",
            "Levels",
            "Output",
            "Rule",
            "Spec",
            "json_schema",
        ),
        "named_values": ("bind_names", "needed_names", "with_named_values"),
        "references": (
            "Reference",
            "RejectedError",
            "call_reference",
            "find_spec_files",
            "golden_outputs",
            "load_references",
            "shipped_operators",
        ),
    },
)
