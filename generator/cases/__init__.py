"""Spec -> cases and vectors: calls that cover the input space, mutations, golden outputs."""

from opcert.cases.candidates import Violation, apply_violation, declared_bounds
from opcert.cases.case import Case, Change, MistakeLog, short_digest
from opcert.cases.conditions import Conditions
from opcert.cases.discrimination import discriminates
from opcert.cases.factors import Level, levels_by_factor, role_factors
from opcert.cases.formulas import ElementFormulas
from opcert.cases.generation import COVERING_STRENGTH, generate_cases
from opcert.cases.input_space import InputSpace
from opcert.cases.laws import Laws, References, check_laws
from opcert.cases.list_mutations import MutationContext
from opcert.cases.mutations import Mutation, mutations_of
from opcert.cases.observation import Observer
from opcert.cases.positive import PositiveCases
from opcert.cases.vectors import Vector, add_special_values, iterate_vectors, make_vectors

__all__ = [
    "COVERING_STRENGTH",
    "Case",
    "Change",
    "Conditions",
    "ElementFormulas",
    "InputSpace",
    "Laws",
    "Level",
    "MistakeLog",
    "Mutation",
    "MutationContext",
    "Observer",
    "PositiveCases",
    "References",
    "Vector",
    "Violation",
    "add_special_values",
    "apply_violation",
    "check_laws",
    "declared_bounds",
    "discriminates",
    "generate_cases",
    "iterate_vectors",
    "levels_by_factor",
    "make_vectors",
    "mutations_of",
    "role_factors",
    "short_digest",
]
