"""Wrong backends that run in processes of their own. They import little and start quickly."""

import os
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from opcert.reference.rules import Array, RuleBroken
from tests import wrong_backends as wrong
from tests.wrong_backends import Attributes, Inputs


class PlansByShape(wrong.Right):
    """Caches the axis by the shape of the data, like a plan whose key lacks the axis."""

    name = "plans-by-shape"

    def __init__(self) -> None:
        self.plans: dict[object, Array] = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if operator != "openvino/VariadicSplit-1" or "axis" not in inputs or "data" not in inputs:
            return super().run(operator, inputs, attributes)
        key = self.key(inputs["data"])
        if key in self.plans:
            inputs = {**inputs, "axis": self.plans[key]}
        outputs = super().run(operator, inputs, attributes)
        self.plans.setdefault(key, inputs["axis"].copy())
        return outputs

    def key(self, data: Array) -> object:
        return data.shape, data.dtype


class RoundsThroughF16(wrong.ThroughFloat16):
    name = "rounds"


class PlansAndRounds(PlansByShape):
    """Caches the axis by the shape of the data, and rounds f32."""

    name = "plans-and-rounds"

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        with np.errstate(all="ignore"):
            return [x.astype("f2").astype("f4") if x.dtype == "f4" else x for x in outputs]


class PlansByRankAndRounds(PlansAndRounds):
    """Caches the axis by the rank of the data alone, so that most calls find another one."""

    def key(self, data: Array) -> object:
        return data.ndim


class RoundsAndDeclares(RoundsThroughF16):
    """Declares types of which it rounds one, and breaks on all others."""

    support: ClassVar = {
        "directml/DML_OPERATOR_SPLIT": {"how": "native", "types": ["f32", "f64", "i32"]}
    }

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if inputs["InputTensor"].dtype not in ("f4", "f8", "i4"):
            os.abort()
        return super().run(operator, inputs, attributes)


class KeepsByShape(wrong.CachesByShape):
    name = "keeps"


class KeepsByOutputs(wrong.Right):
    """Returns the outputs of an earlier call whose outputs had the same shapes and types."""

    name = "keeps-by-outputs"

    def __init__(self) -> None:
        self.kept: dict[object, Sequence[Array]] = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        key = (*((each.shape, each.dtype) for each in outputs),)
        return [each.copy() for each in self.kept.setdefault(key, outputs)]


class KeepsTheMode(wrong.Right):
    """Takes a mode to be explicit where a call omits it, once a call has stated it."""

    name = "keeps-the-mode"

    def __init__(self) -> None:
        self.mode: Attributes = {}

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if attributes.get("mode") == "explicit":
            self.mode = {"mode": "explicit"}
        return super().run(operator, inputs, {**self.mode, **attributes})


class KeepsAndRounds(RoundsThroughF16):
    """Keeps results of i32 by their shapes, and rounds f32."""

    name = "keeps-and-rounds"

    def __init__(self) -> None:
        self.keeping = KeepsByShape()

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if inputs["InputTensor"].dtype == "i4":
            return self.keeping.run(operator, inputs, attributes)
        return super().run(operator, inputs, attributes)


class BreaksAfterRejections(wrong.Right):
    """Makes NaNs of f32 quiet, and rejects the first valid call after a rejection."""

    name = "breaks-after-rejections"

    def __init__(self) -> None:
        self.is_broken = False

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        was_broken, self.is_broken = self.is_broken, True
        outputs = super().run(operator, inputs, attributes)
        self.is_broken = False
        if was_broken:
            raise ValueError("broken by a rejection")
        quiet = np.uint32(1 << 22)
        return [
            np.where(np.isnan(each), (each.view("u4") | quiet).view("f4"), each)
            if each.dtype == "f4"
            else each
            for each in outputs
        ]


class LosesItsData(wrong.Right):
    """Gives zeros for f32, so that other data gives the result of the call before."""

    name = "loses"

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        outputs = super().run(operator, inputs, attributes)
        return [np.zeros_like(each) if each.dtype == np.float32 else each for each in outputs]


class EndsInAmbiguousCases(wrong.Right):
    """Ends its process if an index is boolean, which the documents leave ambiguous."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        if any(each.dtype == np.bool_ for each in list(inputs.values())[1:]):
            os.abort()
        return super().run(operator, inputs, attributes)


class RefusedError(Exception):
    rejected_by = "adapter"


class ChecksInItsAdapter(wrong.Right):
    """Rejects as the reference does, some calls in its adapter."""

    def run(self, operator: str, inputs: Inputs, attributes: Attributes) -> Sequence[Array]:
        try:
            return super().run(operator, inputs, attributes)
        except RuleBroken as error:
            if error.rule == "dml-split/axis-range":
                raise RefusedError("axis") from None
            raise
