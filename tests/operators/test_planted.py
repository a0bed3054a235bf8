"""The core suite of each operator without a committed one, generated here, finds wrong backends."""

from functools import partial
from importlib import import_module

import numpy as np
import pytest

from opcert.arrays import calls
from opcert.arrays.patterns import materialize
from opcert.arrays.tensor_functions import filled, vector
from opcert.cases.conditions import Conditions
from opcert.reference import unchecked
from tests import shipped
from tests.faults.fault import Call, Compute, right
from tests.operators.planted import first_failure
from tests.shipped import spec

_MODULES = [
    import_module(f"tests.operators.{name}")
    for name in (
        *("concat", "dml_join", "dml_slice1", "gather_elements", "pad", "reshape"),
        *("reverse_sequence", "scatter_elements", "split", "strided_slice", "tile", "transpose"),
    )
]


def _each(table: str) -> pytest.MarkDecorator:
    rows = [
        pytest.param(module.OPERATOR, compute, id=f"{module.OPERATOR}/{name}")
        for module in _MODULES
        for name, compute in getattr(module, table, {}).items()
    ]
    return pytest.mark.parametrize(("operator", "compute"), rows)


@pytest.mark.slow
@_each("FAULTS")
def test_a_planted_fault_is_found(operator: str, compute: Compute) -> None:
    makers = (shipped.suite, shipped.core_suite_of)
    assert any(first_failure(operator, compute, make(operator)) for make in makers)


@pytest.mark.slow
@_each("RIGHT")
def test_another_right_backend_has_no_fault(operator: str, compute: Compute) -> None:
    assert first_failure(operator, compute, shipped.suite(operator)) is None


@pytest.mark.slow
@pytest.mark.parametrize("operator", [module.OPERATOR for module in _MODULES])
def test_the_reference_has_no_fault(operator: str) -> None:
    compute = partial(right, operator)
    assert first_failure(operator, compute, shipped.suite(operator)) is None


def test_gather_elements_without_the_check_of_extents_broadcasts_nothing() -> None:
    # Otherwise two tensors of a megabyte could become one of gigabytes.
    data, indices = np.zeros((3, 2, 1), np.int8), np.zeros((1, 1, 3), np.int64)
    with unchecked("gather-elements-6/indices-extents"), pytest.raises(IndexError):
        right("openvino/GatherElements-6", Call({"data": data, "indices": indices}, {"axis": 1}))


def test_spec_and_reference_read_a_step_that_skips_and_inserts_alike() -> None:
    tensors = {
        "data": filled("i8", (2, 3)),
        "begin": vector("i64", (0, 0)),
        "end": vector("i64", (0, 1)),
    }
    masks = {"begin_mask": [], "end_mask": [], "new_axis_mask": [1], "ellipsis_mask": [1]}
    (declared,) = Conditions(spec("StridedSlice-1").spec).outputs(calls.Call(tensors, masks))
    inputs = {name: materialize(tensor) for name, tensor in tensors.items()}
    (output,) = right("openvino/StridedSlice-1", Call(inputs, masks))
    assert output.shape == declared.shape == (2, 1)
