"""The role `fill`: one element of the type of data."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.tensor_functions import filled
from opcert.roles.argument import BoundExpressions
from opcert.roles.data import DataRole
from opcert.roles.factors import (
    BuildContext,
    Constraint,
    Factor,
    ObservationPoint,
    ObservedLevels,
    Requirement,
    forbid,
    levels_where,
)
from opcert.roles.mode import ModeRole
from opcert.roles.role import OMITTED, Role

# The level of a mode that does not use the element.
_UNUSED = "unused"
_FORMS = {"scalar": (), "one_element": (1,)}


class FillRole(Role):
    """One element of the type of data: a tensor.

    `form` lists the allowed forms: `scalar` (rank 0) and `one_element` (shape [1]). An omitted fill
    means 0. With the key `mode`, it is given only if that mode is `mode_is`.
    """

    relations: ClassVar = {"like": ("data",), "mode": ("mode",)}

    role: Literal["fill"]
    like: str
    form: tuple[Literal["scalar", "one_element"], ...] = ("scalar",)
    mode: str | None = None
    mode_is: str | None = None

    def rank_bounds(self) -> BoundExpressions:
        """Return the ranks of its forms."""
        ranks = [len(_FORMS[form]) for form in self.form]
        return (str(min(ranks)), str(max(ranks)))

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Report a type symbol other than that of data, and wrong keys of a mode."""
        symbol = self.data.type
        if self.type != symbol:
            text = f"type symbol '{self.type}' differs from that of '{self.like}'"
            yield "type", f"{text}; expected '{symbol}'"
        if self.selected_by is not None:
            yield from self.selected_by.selection_mistakes(self, self.mode_is)
        elif self.mode_is is not None:
            yield "mode_is", "missing key 'mode'; expected it together with 'mode_is'"

    @property
    def selected_by(self) -> ModeRole | None:
        """The mode that determines whether it is given, if there is one."""
        return None if self.mode is None else self.related(self.mode, ModeRole)

    @property
    def data(self) -> DataRole:
        """The data that has its type."""
        return self.related(self.like, DataRole)

    def factors(self, _: str) -> Iterator[Factor]:
        """Yield the element, and the form if there is more than one."""
        words = {"some": "", "zero": f"{self.name} of zero"}
        if not self.required:
            words[OMITTED] = f"{self.name} omitted"
        if self.selected_by is not None:
            words[_UNUSED] = ""
        yield Factor.of_names(self.factor("element"), words)
        if len(self.form) > 1:
            forms = {form: f"{self.name} of shape {[*shape]}" for form, shape in _FORMS.items()}
            yield Factor(self.factor("form"), {form: form for form in self.form}, words=forms)

    def constraints(self) -> Iterator[Constraint]:
        """Forbid an element in a mode that does not use it."""
        mode = self.selected_by
        if mode is not None:
            yield forbid(
                lambda element, word: (element == _UNUSED) == (mode.meant(word) == self.mode_is),
                *(self.factor("element"), mode.factor("word")),
            )

    def build(self, context: BuildContext) -> Tensor | None:
        """Return an element for a data pattern to fill, or 0."""
        choice = context.choice
        element = choice[self.factor("element")]
        if element in (OMITTED, _UNUSED):
            return None
        form = choice[self.factor("form")] if len(self.form) > 1 else self.form[0]
        tensor = filled(choice[self.type_factor], _FORMS[form])
        return replace(tensor, uniform="zero") if element == "zero" else tensor

    def observe(self, call: Call, _: ObservationPoint) -> ObservedLevels:
        """Observe the element and the form."""
        tensor = call.inputs.get(self.name)
        is_zero = tensor is not None and tensor.uniform == "zero"
        mode = self.selected_by
        is_used = mode is None or mode.meant(call.attributes.get(mode.name)) == self.mode_is
        levels = {
            self.factor("element"): levels_where(
                {
                    OMITTED: tensor is None and is_used,
                    _UNUSED: tensor is None and not is_used,
                    "zero": is_zero,
                    "some": bool(tensor) and not is_zero,
                }
            )
        }
        if len(self.form) > 1:
            # An omitted fill has no form, and exhibits all of them.
            forms = [form for form in self.form if tensor is None or _FORMS[form] == tensor.shape]
            levels[self.factor("form")] = frozenset(forms)
        return ObservedLevels(levels=levels)

    def requirements(self) -> Iterator[Requirement]:
        """Yield its type and its form."""
        name, mode = self.name, self.selected_by
        is_used, prerequisites = self.given_expr, []
        if mode is not None:
            is_used = f"{mode.is_one_of([str(self.mode_is)])} and {is_used}"
            prerequisites = [mode.word_requirement]
        yield Requirement(
            f"{name}.type",
            f"{name} has the type of {self.like}.",
            f"{name}.type == {self.like}.type",
            is_used,
            prerequisites,
        )
        shapes = [_FORMS[form] for form in self.form]
        yield Requirement(
            f"{name}.shape",
            f"{name} is one element, given as {' or '.join(self.form).replace('_', ' ')}.",
            f"{name}.shape in {shapes}",
            is_used,
            prerequisites,
        )
