"""The factors of a spec, and conditions on their levels as masks over grids of levels.

The fewer factors a constraint connects, the smaller the tables that solve all constraints. A
forbidding condition is therefore split at `or` into terms, each of which forbids by itself.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from opcert.combinatorics.tables import (
    BoolArray,
    IntArray,
    LevelColumns,
    LevelConstraint,
    LevelMask,
    level_codes,
    unique_codes,
)
from opcert.errors import ExpressionError, Inapplicable
from opcert.roles.factors import Constraint, DerivedFactor, Factor, LevelName
from opcert.specification.expressions import (
    Expression,
    evaluate,
    evaluate_condition_in,
    evaluation_scope,
    parse_expression,
    subexpression,
)
from opcert.specification.model import Spec

# The value of a level, given the values of the factors that it depends on.
LevelValue = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Level:
    """One level of a factor: its name, the factors that its value depends on, and the value."""

    name: str
    depends_on: tuple[str, ...]
    value: LevelValue


def role_factors(spec: Spec, profile: str) -> Iterator[Factor]:
    """Yield the factors that the roles of a spec's arguments contribute."""
    for role in spec.bound_roles:
        yield from role.factors(profile)


def levels_by_factor(spec: Spec, profile: str) -> dict[str, tuple[Level, ...]]:
    """Return the levels of each factor: those of its role first, then the additional ones."""
    factors = {factor.name: _role_levels(factor) for factor in role_factors(spec, profile)}
    for name, additional in spec.cases.additional.items():
        if name in factors and profile != "stress":
            for level, text in additional.items():
                constant = partial(_constant, evaluate(text, spec.fixed_names))
                factors[name] += (Level(level, (), constant),)
    return factors


def _constant(value: Any, _: Mapping[str, Any]) -> Any:
    return value


def _role_levels(factor: Factor) -> tuple[Level, ...]:
    def computed(function: Callable[..., Any]) -> LevelValue:
        return lambda values: function(*[values[name] for name in factor.depends_on])

    return tuple(
        Level(name, factor.depends_on, computed(value))
        if callable(value)
        else Level(name, (), partial(_constant, value))
        for name, value in factor.levels.items()
    )


class FactorLevels:
    """The factors of a spec in one profile, by name and by position."""

    def __init__(self, spec: Spec, profile: str) -> None:
        self.fixed = spec.fixed_names
        self.levels = levels_by_factor(spec, profile)
        self.sizes = [len(levels) for levels in self.levels.values()]
        self.position = {name: i for i, name in enumerate(self.levels)}
        # By factor, the factors that its value depends on, directly or through others.
        self.dependencies: dict[str, tuple[str, ...]] = {}
        for name in self.levels:
            self._add_dependencies(name)
        self._values: dict[tuple[object, ...], Any] = {}

    def _add_dependencies(self, name: str) -> None:
        """Add the dependencies of a factor, after those of the factors that it depends on."""
        direct = {factor for level in self.levels[name] for factor in level.depends_on}
        for factor in sorted(direct & self.levels.keys() - self.dependencies.keys()):
            self._add_dependencies(factor)
        self.dependencies[name] = self.in_order(self.with_dependencies(direct))

    def with_dependencies(self, names: Iterable[str]) -> frozenset[str]:
        """Return the factors among `names`, and all factors that their values depend on."""
        direct = frozenset(names) & self.levels.keys()
        return direct.union(*(self.dependencies[factor] for factor in direct))

    def in_order(self, factors: Iterable[str]) -> tuple[str, ...]:
        """Return each of `factors` once, in the order of the table."""
        return tuple(sorted(set(factors), key=self.position.__getitem__))

    def value(self, factor: str, row: Mapping[str, int]) -> Any:
        """Return the value of a factor in a row: the index of a level, by factor.

        Raises:
            Inapplicable: it has none.
        """
        dependencies = self.dependencies[factor]
        key = (factor, row[factor], *[row[name] for name in dependencies])
        if key not in self._values:
            level = self.levels[factor][row[factor]]
            self._values[key] = level.value({name: self.value(name, row) for name in dependencies})
        return self._values[key]


class RowChoice:
    """A row of levels as roles see it: the value, or the name, of each factor's level."""

    def __init__(self, factors: FactorLevels, row: Mapping[str, int]) -> None:
        self._factors = factors
        self._row = row

    def __getitem__(self, factor: str) -> Any:
        return self._factors.value(factor, self._row)

    def level(self, factor: str) -> str:
        """Return the name of the factor's level; an empty text where there is no such factor."""
        if factor not in self._row:
            return ""
        return self._factors.levels[factor][self._row[factor]].name


# A condition of more terms, or a term over more combinations of levels, is not split.
_MAX_TERMS = 64
_MAX_CELLS = 1 << 20

# The arguments of a role's vectorised function: values by factor, names of levels by `LevelName`.
_Arrays = Mapping[str | LevelName, IntArray]


def constraint_from_expression(table: FactorLevels, text: str) -> LevelConstraint:
    """Return the constraint that forbids the rows for which a condition of the spec is true."""
    expression = parse_expression(text)
    forbids = _condition(table, expression)
    return LevelConstraint(
        forbids.factors,
        lambda columns, reached: forbids(columns, reached) == 0,
        _term_masks(table, expression),
    )


def constraint_from_role(table: FactorLevels, constraint: Constraint) -> LevelConstraint:
    """Return the constraint that forbids the rows for which a role's condition is true."""
    forbids = _role_function(table, constraint.factors, constraint.when)
    sizes = [table.sizes[factor] for factor in forbids.factors]
    if prod(sizes) > _MAX_CELLS:
        return LevelConstraint(
            forbids.factors, lambda columns, reached: forbids(columns, reached) == 0
        )
    columns = dict(zip(forbids.factors, np.ix_(*map(np.arange, sizes)), strict=True))
    mask = LevelMask(forbids.factors, forbids(columns, np.ones(sizes, bool)) == 0)
    return LevelConstraint(forbids.factors, mask.evaluate, (mask,))


def derivation_from_role(table: FactorLevels, derived: DerivedFactor) -> LevelConstraint:
    """Return the constraint that allows a factor only the level that a role derives."""
    names = [level.name for level in table.levels[derived.factor]]
    position = table.position[derived.factor]

    def level_indices(arrays: _Arrays) -> IntArray:
        level_names = derived.level(*(arrays[factor] for factor in derived.factors))
        is_level = [level_names == name for name in names]
        return np.select(is_level, range(len(names)), default=-1)

    function = _role_function(
        table,
        derived.factors,
        lambda *values: names.index(derived.level(*values)),
        level_indices if derived.vectorised else None,
    )
    return LevelConstraint(
        (*function.factors, position),
        lambda columns, reached: function(columns, reached) == columns[position],
    )


def _condition(table: FactorLevels, expression: Expression) -> "_LevelFunction":
    scope = evaluation_scope(table.fixed)

    def evaluated(values: Mapping[str | LevelName, Any]) -> int:
        scope.update(values)  # type: ignore[arg-type]
        return evaluate_condition_in(scope, expression)

    return _LevelFunction(table, expression.names & table.levels.keys(), evaluated)


def _role_function(
    table: FactorLevels,
    arguments: Sequence[str | LevelName],
    function: Callable[..., int],
    vectorised: Callable[[_Arrays], IntArray] | None = None,
) -> "_LevelFunction":
    """Return a role's function of the values of factors and the names of levels."""

    def evaluated(values: Mapping[str | LevelName, Any]) -> int:
        return int(function(*(values[argument] for argument in arguments)))

    return _LevelFunction(table, arguments, evaluated, vectorised)


def _term_masks(table: FactorLevels, expression: Expression) -> tuple[LevelMask, ...]:
    """Return a mask for each term of a forbidding condition, together equivalent to it.

    There are none if a term cannot be evaluated on some levels: it must then be evaluated only on
    rows that the other constraints allow.
    """
    terms = _disjunctive_terms(expression.tree)
    if len(terms) > _MAX_TERMS:
        return ()
    masks = []
    for term in terms:
        literals = [_condition(table, subexpression(expression, literal)) for literal in term]
        factors = sorted({factor for literal in literals for factor in literal.factors})
        sizes = [table.sizes[factor] for factor in factors]
        if prod(sizes) > _MAX_CELLS:
            return ()
        forbidden = np.ones(sizes, bool)
        columns = dict(zip(factors, np.ix_(*map(np.arange, sizes)), strict=True))
        for literal in literals:
            try:
                # As in Python, a literal is evaluated only where those before it hold.
                forbidden &= literal(columns, forbidden) > 0
            except (ExpressionError, Inapplicable):
                return ()
        masks.append(LevelMask(tuple(factors), ~forbidden))
    return tuple(masks)


def _disjunctive_terms(tree: ast.expr) -> list[list[ast.expr]]:
    """Return the disjunctive normal form of a condition: a list of literals for each term.

    Literals keep their order. The form can be exponentially long: it is cut off, at some length
    beyond `_MAX_TERMS`.
    """
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        operand = tree.operand
        if isinstance(operand, ast.BoolOp):
            # De Morgan's laws
            negated: list[ast.expr] = [ast.UnaryOp(ast.Not(), value) for value in operand.values]
            dual = ast.Or() if isinstance(operand.op, ast.And) else ast.And()
            return _disjunctive_terms(ast.BoolOp(dual, negated))
        if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not):
            return _disjunctive_terms(operand.operand)
    if not isinstance(tree, ast.BoolOp):
        return [[tree]]
    if isinstance(tree.op, ast.Or):
        return [term for value in tree.values for term in _disjunctive_terms(value)]
    terms: list[list[ast.expr]] = [[]]
    for value in tree.values:
        if len(terms) <= _MAX_TERMS:
            terms = [[*term, *more] for term in terms for more in _disjunctive_terms(value)]
    return terms


class _LevelFunction:
    """An integer function of the levels of a few factors, evaluated for many rows at once.

    Its arguments are values of factors, and names of levels.
    Many rows have the same values, and evaluation is slow: each distinct combination of values is
    evaluated once, or all of them together by `vectorised`.
    """

    def __init__(
        self,
        table: FactorLevels,
        arguments: Iterable[str | LevelName],
        evaluated: Callable[[Mapping[str | LevelName, Any]], int],
        vectorised: Callable[[_Arrays], IntArray] | None = None,
    ) -> None:
        self._table = table
        self._evaluated = evaluated
        self._vectorised = vectorised
        arguments = [*arguments]
        self._names_of = table.in_order(a.factor for a in arguments if isinstance(a, LevelName))
        self._values_of = table.in_order(a for a in arguments if isinstance(a, str))
        factors = {*table.with_dependencies(self._values_of), *self._names_of}
        self.factors = tuple(table.position[factor] for factor in table.in_order(factors))

    def __call__(self, columns: LevelColumns, reached: BoolArray) -> IntArray:
        """Return the result for each row, 0 where a row is not `reached`.

        `columns` are indices of levels by the position of their factor, as arrays that broadcast.

        Raises:
            ExpressionError, Inapplicable: it cannot be evaluated on one of the rows.
        """
        table = self._table
        shape = np.broadcast_shapes(*(columns[factor].shape for factor in self.factors))
        reached = _any_along_broadcast_axes(reached, shape)
        factor_names = [*table.levels]
        levels = {
            factor_names[factor]: np.broadcast_to(columns[factor], reached.shape)[reached]
            for factor in self.factors
        }
        values = {factor: self._distinct_values(factor, levels) for factor in self._values_of}
        firsts, combination = _distinct_combinations(
            [
                *((ids, len(known)) for ids, known in values.values()),
                *((levels[factor], len(table.levels[factor])) for factor in self._names_of),
            ],
            int(np.count_nonzero(reached)),
        )
        if self._vectorised is not None:
            arrays: dict[str | LevelName, IntArray] = {
                factor: _value_array(known)[ids[firsts]] for factor, (ids, known) in values.items()
            }
            for factor in self._names_of:
                names = np.array([level.name for level in table.levels[factor]])
                arrays[LevelName(factor)] = names[levels[factor][firsts]]
            results = self._vectorised(arrays)
        else:
            results = np.zeros(len(firsts), np.int64)
            for i, first in enumerate(firsts.tolist()):
                own: dict[str | LevelName, Any] = {
                    factor: known[ids[first]] for factor, (ids, known) in values.items()
                }
                for factor in self._names_of:
                    own[LevelName(factor)] = table.levels[factor][levels[factor][first]].name
                results[i] = self._evaluated(own)
        everywhere = np.zeros(reached.shape, np.int64)
        everywhere[reached] = results[combination]
        return everywhere

    def _distinct_values(
        self, factor: str, levels: Mapping[str, IntArray]
    ) -> tuple[IntArray, list[Any]]:
        """Return the distinct values of a factor, and which of them each row has."""
        factors = [*self._table.dependencies[factor], factor]
        sizes = [len(self._table.levels[name]) for name in factors]
        codes = level_codes([levels[name] for name in factors], sizes)
        firsts, combination = unique_codes(codes, prod(sizes))
        # 1 and True are equal, but not the same value.
        ids: dict[tuple[type, Any], int] = {}
        which = []
        for first in firsts:
            value = self._table.value(factor, {name: int(levels[name][first]) for name in factors})
            which.append(ids.setdefault((type(value), value), len(ids)))
        return np.array(which, np.int64)[combination], [value for _, value in ids]


def _value_array(values: Sequence[Any]) -> Any:
    """Return values as an array, with integers clamped so that two of them can be added."""
    limit = 1 << 62
    return np.array([max(-limit, min(v, limit)) if isinstance(v, int) else v for v in values])


def _distinct_combinations(
    columns: Sequence[tuple[IntArray, int]], count: int
) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct combination, and the combination of each row.

    Each column has an integer for each of `count` rows, and comes with their exclusive upper bound.
    """
    codes: IntArray = np.zeros(count, np.int64)
    size = 1
    for column, column_size in columns:
        codes, size = codes * max(column_size, 1) + column, size * max(column_size, 1)
        # Codes must not overflow.
        if size > 1 << 31:
            firsts, codes = unique_codes(codes, size)
            size = len(firsts)
    return unique_codes(codes, size)


def _any_along_broadcast_axes(flags: BoolArray, shape: tuple[int, ...]) -> BoolArray:
    """Reduce `flags` with `any` to `shape`, which broadcasts to the shape of `flags`."""
    shape = (1,) * (flags.ndim - len(shape)) + shape
    axes = tuple(i for i, extent in enumerate(shape) if extent < flags.shape[i])
    return np.asarray(flags.any(axis=axes, keepdims=True))
