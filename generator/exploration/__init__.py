"""Spec x backend -> counterexamples: random calls beyond the suite, reduced and printed."""

from opcert.exploration.deciding_calls import deciding_calls
from opcert.exploration.explore import explore
from opcert.exploration.snippets import result_text

__all__ = [
    "deciding_calls",
    "explore",
    "result_text",
]
