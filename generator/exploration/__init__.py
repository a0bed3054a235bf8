"""Spec x backend -> findings: fresh calls beyond the suite, made small and printed."""

from opcert.exploration.explore import explore
from opcert.exploration.snippets import result_text

__all__ = [
    "explore",
    "result_text",
]
