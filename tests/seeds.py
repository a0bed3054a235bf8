"""Samplers of any seed, for the tests of what they draw."""

from hypothesis import settings
from hypothesis import strategies as st

from opcert.roles.factors import Sampler

MANY = settings(max_examples=250, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10**6).map(str)


def seeded(seed: str) -> Sampler:
    """Return a sampler that begins at a seed."""
    return Sampler(seed)
