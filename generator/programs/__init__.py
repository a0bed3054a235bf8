"""Calls as Python programs, for reports, `explain` and `explore`."""

from opcert.programs.case_programs import case_call_text, case_program, is_self_contained
from opcert.programs.literals import (
    array_expression,
    is_exact_as_text,
    layout_expression,
    output_expression,
)
from opcert.programs.program import CallText, InputText, write_program
from opcert.programs.reasons import (
    ArgumentChange,
    case_reason,
    changes_from_baseline,
    describe_tensor,
)

__all__ = [
    "ArgumentChange",
    "CallText",
    "InputText",
    "array_expression",
    "case_call_text",
    "case_program",
    "case_reason",
    "changes_from_baseline",
    "describe_tensor",
    "is_exact_as_text",
    "is_self_contained",
    "layout_expression",
    "output_expression",
    "write_program",
]
