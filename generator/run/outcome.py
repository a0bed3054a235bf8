"""Call x backend -> outcome, in this process or in another."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from opcert.arrays import InputArrays
from opcert.backends import Backend
from opcert.errors import describe_error
from opcert.run.freed_memory import dirty_freed_memory

if TYPE_CHECKING:
    # Who calls and does no more, as a worker, needs nothing of what judges.
    from opcert.run.comparison import Difference
    from opcert.run.records import CallRecord, RemoteOutputs

Observed = Literal["outputs", "rejected", "unsupported", "crash", "hang", "not-run"]
# Who found that a call breaks a rule: the runtime under test, or the adapter in front of it.
Rejecter = Literal["runtime", "adapter"]
# What leaves no process to go on with.
FATAL_OUTCOMES: Final = ("crash", "hang")


@dataclass(frozen=True)
class Outcome:
    """What a backend did with a vector.

    `outputs` is what it returned, arrays as plain ones, which another process may have `kept`;
    `reason` what it raised, or how it ended, and `rejected_by` who raised it; `fault` the worst
    that was wrong; `returned` what was right, to be compared again; `log` what it printed.
    """

    observed: Observed
    outputs: Any = None
    reason: str = ""
    fault: "Difference | None" = None
    records: "Sequence[CallRecord]" = ()
    kept: "RemoteOutputs | None" = None
    log: str = ""
    rejected_by: Rejecter | None = None


class IsolatedBackend(ABC):
    """A backend in another process, which may crash or hang without ending this one.

    `delivery` says how inputs lie in memory there.
    """

    delivery: Literal["strided", "packed"] = "strided"
    reuse: str | None = None

    @abstractmethod
    def outcome(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Mapping[str, Any],
        dirtied: Sequence[int] = (),
    ) -> Outcome:
        """Make a call, as `run_once` does; the inputs are then as it left them."""


def call_backend(
    backend: Backend,
    operator: str,
    inputs: InputArrays,
    attributes: Mapping[str, Any],
    dirtied: Sequence[int] = (),
) -> Outcome:
    """Call the backend; whatever it raises but an interrupt is an outcome.

    Blocks of memory of the sizes in `dirtied`, in bytes, are dirtied before, where they can be.
    """
    if isinstance(backend, IsolatedBackend):
        return backend.outcome(operator, inputs, attributes, dirtied)
    dirty_freed_memory(dirtied)
    try:
        outputs = _plain(backend.run(operator, dict(inputs), _copied(dict(attributes))))
    except NotImplementedError as error:
        return Outcome("unsupported", reason=describe_error(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome("rejected", reason=describe_error(error), rejected_by=rejecter_of(error))
    return Outcome("outputs", outputs)


def rejecter_of(error: BaseException) -> Rejecter:
    """Return who rejected a call: an exception of an adapter has `rejected_by = "adapter"`."""
    try:
        return "adapter" if error.rejected_by == "adapter" else "runtime"  # type: ignore[attr-defined]
    except Exception:
        # Most exceptions have no such attribute; a property of a strange one may fail.
        return "runtime"


def _copied(attribute: Any) -> Any:
    """Return a copy of plain attributes, or of a part of them."""
    if isinstance(attribute, dict):
        return {name: _copied(each) for name, each in attribute.items()}
    if isinstance(attribute, list):
        return [_copied(each) for each in attribute]
    return attribute


def _plain(records: Any) -> Any:
    """Return the arrays of a list or tuple without what a subclass would make of them."""
    if not isinstance(records, list | tuple):
        return records
    items = (list if isinstance(records, list) else tuple).__iter__(records)  # type: ignore[arg-type]
    return [np.asarray(each) if isinstance(each, np.ndarray) else each for each in items]
