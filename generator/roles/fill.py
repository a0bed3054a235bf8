"""The role `fill`: one element of the type of data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from opcert.arrays import Call, Tensor, filled
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    levels_where,
)
from opcert.roles.role import OMITTED, Role

_FORMS = {"scalar": (), "one_element": (1,)}


class FillRole(Role):
    """One element of the type of data: a tensor.

    `form` lists the allowed forms: `scalar` (rank 0) and `one_element` (shape [1]). An omitted fill
    stands for 0.
    """

    relations: ClassVar = {"like": ("data",)}

    role: Literal["fill"]
    like: str
    form: tuple[Literal["scalar", "one_element"], ...] = ("scalar",)

    def rank_bounds(self) -> BoundExpressions:
        """Return the ranks of its forms."""
        ranks = [len(_FORMS[form]) for form in self.form]
        return (str(min(ranks)), str(max(ranks)))

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data."""
        symbol = self.data.type
        if self.type != symbol:
            text = f"type symbol '{self.type}' differs from that of '{self.like}'"
            yield "type", f"{text}; expected '{symbol}'"

    @property
    def data(self) -> DataRole:
        """The data that has its type."""
        return self.related(self.like, DataRole)

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield the element, and the form if there is more than one."""
        words = {"some": "", "zero": f"{self.name} of zero"}
        if not self.required:
            words[OMITTED] = f"{self.name} omitted"
        yield Factor.of_names(self.factor("element"), words)
        if len(self.form) > 1:
            forms = {form: f"{self.name} of shape {[*shape]}" for form, shape in _FORMS.items()}
            yield Factor(self.factor("form"), {form: form for form in self.form}, words=forms)

    def build(self, context: BuildContext) -> Tensor | None:
        """Return an element for a data pattern to fill, or 0."""
        choice = context.choice
        element = choice[self.factor("element")]
        if element == OMITTED:
            return None
        form = choice[self.factor("form")] if len(self.form) > 1 else self.form[0]
        tensor = filled(choice[self.data.factor("type")], _FORMS[form])
        return replace(tensor, uniform="zero") if element == "zero" else tensor

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the element and the form."""
        tensor = call.inputs.get(self.name)
        is_zero = tensor is not None and tensor.uniform == "zero"
        levels = {
            self.factor("element"): levels_where(
                {OMITTED: tensor is None, "zero": is_zero, "some": bool(tensor) and not is_zero}
            )
        }
        if len(self.form) > 1:
            # An omitted fill has no form, and exhibits all of them.
            forms = [form for form in self.form if tensor is None or _FORMS[form] == tensor.shape]
            levels[self.factor("form")] = frozenset(forms)
        return ObservedLevels(levels=levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and its form."""
        name = self.name
        yield Requirement(
            f"{name}.type",
            f"{name} has the type of {self.like}.",
            f"{name}.type == {self.like}.type",
            self.given_expr,
        )
        shapes = [_FORMS[form] for form in self.form]
        yield Requirement(
            f"{name}.shape",
            f"{name} is one element, given as {' or '.join(self.form).replace('_', ' ')}.",
            f"{name}.shape in {shapes}",
            self.given_expr,
        )
