"""Spec x backend -> counterexamples: random calls beyond the suite, reduced and printed."""

from opcert.exploration.explore import explore
from opcert.exploration.snippets import result_text

__all__ = [
    "explore",
    "result_text",
]
