"""Conditions over the levels of factors -> constraints, as masks over grids of levels.

A condition that forbids splits at `or` into terms, each of which forbids by itself and speaks of
fewer factors; a term is a conjunction of literals, each evaluated once for each choice of the
levels that it is about, and NumPy puts the literals together.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from opcert.cases.factors import Factors
from opcert.combinatorics import (
    BoolArray,
    IntArray,
    LevelColumns,
    LevelConstraint,
    LevelMask,
    level_codes,
    unique_codes,
)
from opcert.errors import ExpressionError, Inapplicable, did_you_mean
from opcert.roles import Constraint, DerivedFactor, LevelName
from opcert.specification import (
    EvaluationScope,
    Expression,
    abbreviate,
    evaluate_condition_in,
    evaluate_in,
    evaluation_scope,
    parse_expression,
    subexpression,
)

# A condition of more terms, or a term over more choices of levels, is asked as it is.
_MOST_TERMS = 64
_MOST_CELLS = 1 << 20


def forbidding(factors: Factors, text: str) -> LevelConstraint:
    """Return the constraint that allows what the condition `text` does not forbid."""
    expression = parse_expression(text)
    asked = _asked(factors, expression, lambda scope: evaluate_condition_in(scope, expression))
    return LevelConstraint(
        asked.factors,
        lambda columns, reached: asked.answers(columns, reached) == 0,
        _parts(factors, expression),
    )


def following(factors: Factors, factor: str, text: str) -> LevelConstraint:
    """Return the constraint that allows of `factor` the level alone that `text` names."""
    expression = parse_expression(text)
    levels = [level.name for level in factors.levels[factor]]
    position = factors.position[factor]

    def level(scope: EvaluationScope) -> int:
        name = evaluate_in(scope, expression)
        if name not in levels:
            found = f"{abbreviate(text)} is {abbreviate(name)}{did_you_mean(str(name), levels)}"
            raise ExpressionError(found, ("cases", "derived", factor))
        return levels.index(name)

    asked = _asked(factors, expression, level)
    return LevelConstraint(
        (*asked.factors, position),
        lambda columns, reached: asked.answers(columns, reached) == columns[position],
    )


def forbidding_of_role(factors: Factors, forbidden: Constraint) -> LevelConstraint:
    """Return the constraint that allows what a role does not forbid."""
    asked = _asked_of(factors, forbidden.factors, forbidden.when)
    sizes = [factors.sizes[factor] for factor in asked.factors]
    if prod(sizes) > _MOST_CELLS:
        return LevelConstraint(
            asked.factors, lambda columns, reached: asked.answers(columns, reached) == 0
        )
    columns = dict(zip(asked.factors, np.ix_(*map(np.arange, sizes)), strict=True))
    mask = LevelMask(asked.factors, asked.answers(columns, np.ones(sizes, bool)) == 0)
    return LevelConstraint(asked.factors, mask.evaluate, (mask,))


def following_of_role(factors: Factors, derived: DerivedFactor) -> LevelConstraint:
    """Return the constraint that allows of a factor the level alone that a role derives."""
    names = [level.name for level in factors.levels[derived.factor]]
    position = factors.position[derived.factor]
    asked = _asked_of(factors, derived.factors, lambda *values: names.index(derived.level(*values)))
    if derived.vectorised:

        def levels(columns: Mapping[str | LevelName, IntArray]) -> IntArray:
            derived_names = derived.level(*(columns[each] for each in derived.factors))
            which = [derived_names == name for name in names]
            return np.select(which, range(len(names)), default=-1)

        asked.ask_arrays = levels
    return LevelConstraint(
        (*asked.factors, position),
        lambda columns, reached: asked.answers(columns, reached) == columns[position],
    )


def _asked_of(
    factors: Factors, about: Sequence[str | LevelName], ask: Callable[..., int]
) -> "_Asked":
    """Return what asks a function of values and of names of levels."""
    named = [each for each in about if isinstance(each, str)]
    levels = [each.factor for each in about if isinstance(each, LevelName)]

    def asked(scope: EvaluationScope) -> int:
        level = scope.get("level")
        return int(
            ask(
                *(
                    getattr(level, each.factor) if isinstance(each, LevelName) else scope[each]
                    for each in about
                )
            )
        )

    return _Asked(factors, named, levels, asked)


def _asked(
    factors: Factors, expression: Expression, ask: Callable[[EvaluationScope], int]
) -> "_Asked":
    return _Asked(factors, expression.names, level_uses(expression), ask)


def _parts(factors: Factors, expression: Expression) -> tuple[LevelMask, ...]:
    """Return masks that together allow what `expression` does not forbid, one for each term.

    There are none where a term cannot be evaluated on all levels: it is then to be asked of those
    choices alone that other constraints leave.
    """
    terms = _terms(expression.tree)
    if len(terms) > _MOST_TERMS:
        return ()
    masks = []
    for term in terms:
        literals = [subexpression(expression, literal) for literal in term]
        asked = [_asked(factors, literal, _holds(literal)) for literal in literals]
        about = sorted({factor for each in asked for factor in each.factors})
        sizes = [factors.sizes[factor] for factor in about]
        if prod(sizes) > _MOST_CELLS:
            return ()
        forbidden = np.ones(sizes, bool)
        columns = dict(zip(about, np.ix_(*map(np.arange, sizes)), strict=True))
        for each in asked:
            try:
                # As Python would, a literal is evaluated where those before it hold.
                forbidden &= each.answers(columns, forbidden) > 0
            except (ExpressionError, Inapplicable):
                return ()
        masks.append(LevelMask(tuple(about), ~forbidden))
    return tuple(masks)


def _holds(literal: Expression) -> Callable[[EvaluationScope], bool]:
    return lambda scope: evaluate_condition_in(scope, literal)


def _terms(tree: ast.expr) -> list[list[ast.expr]]:
    """Return the disjunctive normal form of a condition: terms of literals, in their order.

    Of a condition of very many terms, it returns some more than `_MOST_TERMS`.
    """
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        inner = tree.operand
        if isinstance(inner, ast.BoolOp):
            # De Morgan
            negated: list[ast.expr] = [ast.UnaryOp(ast.Not(), each) for each in inner.values]
            other = ast.Or() if isinstance(inner.op, ast.And) else ast.And()
            return _terms(ast.BoolOp(other, negated))
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return _terms(inner.operand)
    if not isinstance(tree, ast.BoolOp):
        return [[tree]]
    if isinstance(tree.op, ast.Or):
        return [term for each in tree.values for term in _terms(each)]
    terms: list[list[ast.expr]] = [[]]
    for each in tree.values:
        if len(terms) <= _MOST_TERMS:
            terms = [[*term, *more] for term in terms for more in _terms(each)]
    return terms


class _Asked:
    """A function of levels, asked once for each of the values that choices come to.

    It is asked for the values of the factors among `named`, and for the names of `levels`.
    """

    def __init__(
        self,
        factors: Factors,
        named: Iterable[str],
        levels: Iterable[str],
        ask: Callable[[EvaluationScope], int],
    ) -> None:
        self._table = factors
        self._ask = ask
        # Asked instead, where it is set: of arrays, as Python takes long for many choices.
        self.ask_arrays: Callable[[Mapping[str | LevelName, IntArray]], IntArray] | None = None
        self._levels = factors.ordered(levels)
        self._named = factors.ordered(set(named) & factors.levels.keys())
        about = {*factors.behind(self._named), *self._levels}
        self.factors = tuple(factors.position[each] for each in factors.ordered(about))

    def answers(self, columns: LevelColumns, reached: BoolArray) -> IntArray:
        """Return what the expression gives for each choice of levels, 0 where not `reached`.

        Raises:
            ExpressionError, Inapplicable: it cannot be evaluated on one of them.
        """
        shape = np.broadcast_shapes(*(columns[factor].shape for factor in self.factors))
        asked = _reduced(reached, shape)
        names = [*self._table.levels]
        chosen = {
            names[factor]: np.broadcast_to(columns[factor], asked.shape)[asked]
            for factor in self.factors
        }
        values = [self._values(factor, chosen) for factor in self._named]
        places, which = _distinct_choices(
            [
                *((ids, len(known)) for ids, known in values),
                *((chosen[each], len(self._table.levels[each])) for each in self._levels),
            ],
            int(np.count_nonzero(asked)),
        )
        found: IntArray = np.zeros(len(places), np.int64)
        if self.ask_arrays is not None:
            arrays: dict[str | LevelName, IntArray] = {
                name: _array(known)[ids[places]]
                for name, (ids, known) in zip(self._named, values, strict=True)
            }
            for each in self._levels:
                level_names = np.array([level.name for level in self._table.levels[each]])
                arrays[LevelName(each)] = level_names[chosen[each][places]]
            found = self.ask_arrays(arrays)
            places = places[:0]
        scope = evaluation_scope(self._table.fixed)
        for i, place in enumerate(places.tolist()):
            for name, (ids, known) in zip(self._named, values, strict=True):
                scope[name] = known[ids[place]]
            if self._levels:
                row = {each: int(chosen[each][place]) for each in self._levels}
                scope["level"] = self._table.level_names(row)
            found[i] = self._ask(scope)
        answers = np.zeros(asked.shape, np.int64)
        answers[asked] = found[which]
        return answers

    def _values(self, factor: str, chosen: Mapping[str, IntArray]) -> tuple[IntArray, list[Any]]:
        """Return the distinct values of `factor`, and which of them each choice of levels has."""
        names = [*self._table.needs[factor], factor]
        sizes = [len(self._table.levels[each]) for each in names]
        places, which = unique_codes(
            level_codes([chosen[each] for each in names], sizes), prod(sizes)
        )
        ids: dict[tuple[type, Any], int] = {}
        found = []
        for i in places:
            value = self._table.value(factor, {each: int(chosen[each][i]) for each in names})
            found.append(ids.setdefault((type(value), value), len(ids)))
        return np.array(found, np.int64)[which], [value for _, value in ids]


def _array(values: Sequence[Any]) -> Any:
    """Return values as an array; integers are cut so that two of them can be added."""
    most = 1 << 62
    return np.array([max(-most, min(v, most)) if isinstance(v, int) else v for v in values])


def _distinct_choices(
    columns: Sequence[tuple[IntArray, int]], count: int
) -> tuple[IntArray, IntArray]:
    """Return a place of each distinct line of `columns`, and which of them each line is.

    Each column comes with the number of its levels.
    """
    codes: IntArray = np.zeros(count, np.int64)
    size = 1
    for column, most in columns:
        codes, size = codes * max(most, 1) + column, size * max(most, 1)
        if size > 1 << 31:
            places, codes = unique_codes(codes, size)
            size = len(places)
    return unique_codes(codes, size)


def _reduced(reached: BoolArray, shape: tuple[int, ...]) -> BoolArray:
    """Return where in an array of `shape`, which broadcasts, something `reached` lies."""
    shape = (1,) * (reached.ndim - len(shape)) + shape
    axes = tuple(i for i, extent in enumerate(shape) if extent < reached.shape[i])
    return np.asarray(reached.any(axis=axes, keepdims=True))


def level_uses(expression: Expression) -> frozenset[str]:
    """Return the factors whose level, not whose value, `expression` asks for."""
    return frozenset(
        node.attr
        for node in ast.walk(expression.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "level"
    )
