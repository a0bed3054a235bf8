"""Call x backend -> outcome: makes the calls of a case and compares outputs with golden ones."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.run.backend_list import AvailableBackend, available_backends
    from opcert.run.call_protocol import ECHO_PREFIX, repetition_plan, run_repeatedly, run_vector
    from opcert.run.comparison import Difference, FailureKind, compare_outputs
    from opcert.run.excerpts import Excerpt, ExcerptRow, excerpt_rows
    from opcert.run.freed_memory import dirty_freed_memory
    from opcert.run.outcome import (
        FATAL_OUTCOMES,
        IsolatedBackend,
        Observed,
        Outcome,
        Rejecter,
        call_backend,
    )
    from opcert.run.records import CallRecord
    from opcert.run.session import Session, SessionFault, SessionStep

__all__ = [
    "ECHO_PREFIX",
    "FATAL_OUTCOMES",
    "AvailableBackend",
    "CallRecord",
    "Difference",
    "Excerpt",
    "ExcerptRow",
    "FailureKind",
    "IsolatedBackend",
    "Observed",
    "Outcome",
    "Rejecter",
    "Session",
    "SessionFault",
    "SessionStep",
    "available_backends",
    "call_backend",
    "compare_outputs",
    "dirty_freed_memory",
    "excerpt_rows",
    "repetition_plan",
    "run_repeatedly",
    "run_vector",
]

# A worker imports this package in each of its processes, and needs little of it.
__getattr__ = lazy_attributes(
    __name__,
    {
        "backend_list": ("AvailableBackend", "available_backends"),
        "call_protocol": ("ECHO_PREFIX", "repetition_plan", "run_repeatedly", "run_vector"),
        "comparison": ("Difference", "FailureKind", "compare_outputs"),
        "excerpts": ("Excerpt", "ExcerptRow", "excerpt_rows"),
        "freed_memory": ("dirty_freed_memory",),
        "outcome": (
            "FATAL_OUTCOMES",
            "IsolatedBackend",
            "Observed",
            "Outcome",
            "Rejecter",
            "call_backend",
        ),
        "records": ("CallRecord",),
        "session": ("Session", "SessionFault", "SessionStep"),
    },
)
