"""Mutations: what the signature of a spec gives, by their names, and what they make of calls."""

import pytest

from opcert.arrays.calls import Call, Tensor
from opcert.arrays.element_types import FOUR_BIT_TYPES
from opcert.arrays.tensor_functions import filled, scalar, vector
from opcert.cases.list_mutations import MutationContext
from opcert.cases.mutations import mutations_of
from tests.shipped import MOVING, each_spec, spec

GATHER = spec("Gather-8").spec
MUTATIONS = {mutation.name: mutation for mutation in mutations_of(GATHER)}
CALL = Call(
    {
        "data": filled("f32", (2, 3, 4)),
        "indices": vector("i64", (1, 0, 2, 1)),
        "axis": scalar("u8", 1),
    },
    {"batch_dims": 0},
)
RANKS = MutationContext((-3, 2))


def mutated_call(name: str, context: MutationContext = RANKS, call: Call = CALL) -> Call | None:
    return MUTATIONS[name].apply(GATHER, call, context)


def values(name: str, context: MutationContext = RANKS) -> tuple[bool | int | float, ...] | None:
    call = mutated_call(name, context)
    return None if call is None else call.inputs[MUTATIONS[name].argument].values


@each_spec
def test_no_two_mutations_have_the_same_name(name: str) -> None:
    names = [mutation.name for mutation in mutations_of(spec(name).spec)]
    assert len(names) == len(set(names))
    # A function of numbers has few arguments.
    assert len(names) > (300 if name in MOVING else 60)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("indices-first-plus-one", (2, 0, 2, 1)),
        ("indices-last-above", (1, 0, 2, 3)),
        ("indices-last-below", (1, 0, 2, -4)),
        ("indices-first-round-below", (-2, 0, 2, 1)),
        ("indices-first-two-rounds-above", (7, 0, 2, 1)),
        ("indices-all-set-to-minus-one", (-1, -1, -1, -1)),
        ("indices-first-plus-2-32", (4294967297, 0, 2, 1)),
        ("indices-first-greatest", (9223372036854775807, 0, 2, 1)),
        ("indices-inner-two-exchanged", (1, 2, 0, 1)),
        ("indices-first-two-balanced-to-minus-one", (2, -1, 2, 1)),
        ("indices-ends-balanced-by-2-8", (257, 0, 2, -255)),
        ("indices-without-first", (0, 2, 1)),
        ("indices-with-another", (1, 0, 2, 1, 3)),
        ("indices-all-alike", (1, 1, 1, 1)),
        ("axis-greatest-of-u8", (255,)),
        # As an integer of 8 bits with a sign it is -2, the same axis from the end.
        ("axis-from-the-end-as-u8", (254,)),
        ("axis-two", (1, 1)),
    ],
)
def test_values_are_mutated_as_the_name_says(name: str, expected: tuple[int, ...]) -> None:
    assert values(name) == expected


@pytest.mark.parametrize("name", ["indices-plus-one", "axis-first-plus-one", "axis-below"])
def test_a_mutation_that_does_not_apply_gives_none(name: str) -> None:
    assert mutated_call(name) is None


def test_the_draw_selects_a_middle_element() -> None:
    drawn = {
        values("indices-middle-set-to-minus-one", MutationContext((-3, 2), draw))
        for draw in range(8)
    }
    assert drawn == {(1, -1, 2, 1), (1, 0, -1, 1)}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("data-without-dimensions", ()),
        ("data-without-last-dimension", (2, 3)),
        ("data-first-extent-plus-one", (3, 3, 4)),
        ("data-first-two-extents-exchanged", (3, 2, 4)),
        ("indices-row", (1, 4)),
        ("axis-one-dimension", (1,)),
    ],
)
def test_a_tensor_is_reshaped(name: str, shape: tuple[int, ...]) -> None:
    call = mutated_call(name)
    assert call is not None
    assert call.inputs[MUTATIONS[name].argument].shape == shape


def test_data_does_not_grow_beyond_memory_not_even_without_elements() -> None:
    assert mutated_call("data-first-extent-plus-2-16") is None
    empty = Call({**CALL.inputs, "data": filled("f32", (2, 0, 4))}, CALL.attributes)
    assert mutated_call("data-first-extent-plus-2-16", call=empty) is None


def test_a_given_argument_is_omitted() -> None:
    call = mutated_call("batch_dims-omitted")
    assert call is not None
    assert call.attributes == {}
    assert mutated_call("batch_dims-omitted", call=call) is None
    # Without it, its default is changed.
    above = mutated_call("batch_dims-plus-one", call=call)
    assert above is not None
    assert above.attributes == {"batch_dims": 1}


def test_an_omitted_optional_input_is_added() -> None:
    parts = spec("Slice-8").spec
    (added,) = (each for each in mutations_of(parts) if each.name == "axes-added-i64")
    lists = {name: vector("i64", (1,)) for name in ("start", "stop", "step")}
    call = added.apply(parts, Call({"data": filled("f32", (2, 3)), **lists}), MutationContext())
    assert call is not None
    assert call.inputs["axes"] == vector("i64", (0, 1))
    assert added.apply(parts, call, MutationContext()) is None


def test_types_of_4_bits_are_not_used() -> None:
    assert all(f"indices-as-{name}" not in MUTATIONS for name in FOUR_BIT_TYPES)
    assert "indices-as-f8e4m3" in MUTATIONS


def test_records_are_mutated_singly_together_and_across() -> None:
    parts = spec("DML_OPERATOR_SPLIT").spec
    mutations = {mutation.name: mutation for mutation in mutations_of(parts)}
    records = [{"Sizes": [size], "DataType": "FLOAT32"} for size in (1, 2, 3)]
    call = Call({"InputTensor": Tensor("f32", (6,))}, {"OutputTensors": records})

    def fields(name: str, field: str) -> list[object]:
        mutated = mutations[f"OutputTensors-{name}"].apply(parts, call, MutationContext())
        assert mutated is not None
        return [record[field] for record in mutated.attributes["OutputTensors"]]

    assert fields("first-fields-plus-one", "Sizes") == [[2], [2], [3]]
    assert fields("ends-fields-balanced-to-minus-one", "Sizes") == [[5], [2], [-1]]
    assert fields("all-field-with-one", "Sizes") == [[1, 1], [2, 1], [3, 1]]
    assert fields("merged", "Sizes") == [[3], [3]]
    assert fields("last-field-set-to-INT8", "DataType") == ["FLOAT32", "FLOAT32", "INT8"]
    assert fields("without-first-record", "Sizes") == [[2], [3]]
