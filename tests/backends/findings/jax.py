"""Deviations of JAX."""

from typing import Any

from tests.backends.findings.finding import REJECTED, finding


@finding(
    "jax Gather-8 index-above",
    call='`take(arange(10, 20), [2**40], mode="fill", fill_value=0)`',
    expected="[0]",
    got="[10]: cut to 32 bits",
    right=[0],
    wrong=[10],
)
def jax_wide_index() -> Any:
    import jax

    with jax.enable_x64(True):
        indices = jax.numpy.array([2**40])
        data = jax.numpy.arange(10, 20)
        return jax.numpy.take(data, indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 index-negative",
    call="indices i8 [-1] of 300",
    expected="the last",
    got="element 43: added in 8 bits",
    right=[299],
    wrong=[43],
)
def jax_narrow_index() -> Any:
    import jax

    indices = jax.numpy.array([-1], jax.numpy.int8)
    return jax.numpy.take(jax.numpy.arange(300), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 axis-empty",
    call='`take(arange(0), [0], mode="fill", fill_value=0)`',
    expected="[0]",
    got="rejected",
    right=[0],
    wrong=REJECTED,
)
def jax_axis_empty() -> Any:
    import jax

    indices = jax.numpy.array([0])
    return jax.numpy.take(jax.numpy.arange(0), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 indices-empty",
    call='`take(zeros((0, 5)), zeros((3, 0), int), axis=0, mode="fill")`',
    expected="shape (3, 0, 5)",
    got="shape (0, 5)",
    right=[3, 0, 5],
    wrong=[0, 5],
)
def jax_indices_empty() -> Any:
    import jax

    data, indices = jax.numpy.zeros((0, 5)), jax.numpy.zeros((3, 0), int)
    return list(jax.numpy.take(data, indices, axis=0, mode="fill").shape)


@finding(
    "jax Gather-8 indices-type",
    call='`take(arange(3), zeros(0, float8_e4m3fn), mode="fill")`',
    expected="rejected",
    got="accepted; not where there are indices",
    right=REJECTED,
    wrong=[],
)
def jax_indices_type() -> Any:
    import jax

    indices = jax.numpy.zeros(0, jax.numpy.float8_e4m3fn)
    return jax.numpy.take(jax.numpy.arange(3), indices, mode="fill", fill_value=0).tolist()


@finding(
    "jax Gather-8 any-type",
    call='`take(x, [0], mode="fill")`, x bf16 0x7f81, a NaN',
    expected="the same bits",
    got="0x7fc0",
    right=[0x7F81],
    wrong=[0x7FC0],
)
def jax_taken_nan() -> Any:
    import jax
    import numpy as np

    data = jax.numpy.array(np.array([0x7F81], np.uint16).view(jax.numpy.bfloat16))
    taken = jax.numpy.take(data, jax.numpy.array([0]), mode="fill", fill_value=0)
    return np.array(taken).view(np.uint16).tolist()


@finding(
    "jax Broadcast-1 any-type",
    call="bf16 subnormals to (2, 6)",
    expected="the same bits",
    got="zeros on some processors; not for (2, 4)",
    right=[1, 2, 3, 4, 5, 6] * 2,
    wrong=[0] * 12,
)
def jax_subnormals() -> Any:
    import jax
    import numpy as np

    data = jax.numpy.array(np.arange(1, 7, dtype=np.uint16).view(jax.numpy.bfloat16))
    return np.array(jax.numpy.broadcast_to(data, (2, 6))).view(np.uint16).ravel().tolist()


@finding(
    "jax VariadicSplit-1 lengths-type",
    call="`split(x, [2, 3])`, then `[2., 3.]`",
    expected="rejected",
    got="accepted, from a cache",
    right=REJECTED,
    wrong="accepted",
)
def jax_cached_lengths() -> Any:
    import jax

    x = jax.numpy.arange(5)
    jax.lax.split(x, [2, 3])
    jax.lax.split(x, [2.0, 3.0])
    return "accepted"


@finding(
    "jax Broadcast-1 axes-mapping-type",
    call="`broadcast_in_dim(arange(3), (2, 3), (1.,))`, then `(1,)`",
    expected="rejected, then two rows",
    got="rejected twice, from a cache",
    right=[REJECTED, [[0, 1, 2], [0, 1, 2]]],
    wrong=[REJECTED, REJECTED],
)
def jax_cached_rejection() -> Any:
    import jax

    results: list[Any] = []
    for axes in ((1.0,), (1,)):
        try:
            results.append(jax.lax.broadcast_in_dim(jax.numpy.arange(3), (2, 3), axes).tolist())
        except TypeError:
            results.append(REJECTED)
    return results


@finding(
    "jax Slice-8 backwards",
    call="`arange(10)[::-2**63]`",
    expected="[9]",
    got="TypeError",
    right=[9],
    wrong=REJECTED,
)
def jax_least_step() -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.arange(10)[:: -(2**63)].tolist()


@finding(
    "jax Slice-8 subsample",
    call="`arange(256)[::2**63-1]`",
    expected="[0]",
    got="shape (1,), and no element",
    right=[[1], 1],
    wrong=[[1], 0],
)
def jax_greatest_step() -> Any:
    import jax
    import numpy as np

    with jax.enable_x64(True):
        found = jax.numpy.arange(256)[:: 2**63 - 1]
        return [list(found.shape), np.array(found).size]


@finding(
    "jax Slice-8 subsample",
    call="`arange(2).reshape(1, 2)[::-1, ::2**63-1]`",
    expected="[[0]]",
    got="SIGABRT",
    right=[[0]],
    wrong="SIGABRT",
)
def jax_greatest_step_backwards() -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.numpy.arange(2).reshape(1, 2)[::-1, :: 2**63 - 1].tolist()
