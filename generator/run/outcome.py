"""Call x backend -> outcome, in this process or in another."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from opcert.arrays.calls import group_variadic, plain_copy
from opcert.arrays.element_types import InputArrays
from opcert.arrays.layouts import dirty_freed_memory
from opcert.backends.contract import Arguments, Backend, as_backend_error, own_lines
from opcert.errors import BackendError, describe_error

if TYPE_CHECKING:
    from opcert.accuracy.bounds import Accuracy
    from opcert.run.comparison import CallRecord, Difference, RemoteOutputs


Observed = Literal["outputs", "rejected", "unsupported", "crash", "hang", "not-run"]
# Who rejected a call: the runtime under test, or the adapter in front of it.
Rejecter = Literal["runtime", "adapter"]
# After these, the process of the backend is gone.
FATAL_OUTCOMES: Final = ("crash", "hang")


@dataclass(frozen=True)
class Outcome:
    """What a backend did with one or several calls of a case.

    `outputs` are the returned outputs as plain arrays; `remote` watches the originals in another
    process. `reason` describes the exception or the end of the process; `rejected_by` is who raised
    the exception, and `lines` are those of the backend's own source at which it was raised. `fault`
    is the worst fault, `log` the printed text. `records` are the correct calls, to be compared
    again after later calls. `accuracy` is that of computed outputs.
    """

    observed: Observed
    outputs: Any = None
    reason: str = ""
    fault: "Difference | None" = None
    records: "Sequence[CallRecord]" = ()
    remote: "RemoteOutputs | None" = None
    log: str = ""
    rejected_by: Rejecter | None = None
    lines: Sequence[str] = ()
    accuracy: "Accuracy | None" = None


# The longest code of a call that a reader would run.
_MAX_CODE = 20_000


class IsolatedBackend(ABC):
    """A backend in another process, which can crash or hang without ending this one.

    `delivery` is the memory layout of inputs in that process.
    """

    delivery: Literal["strided", "packed"] = "strided"
    reuse: str | None = None

    @abstractmethod
    def call(
        self,
        operator: str,
        inputs: InputArrays,
        attributes: Arguments,
        dirty_sizes: Sequence[int] = (),
    ) -> Outcome:
        """Make a call, as `call_backend` does; the backend may have changed `inputs` afterwards."""

    @abstractmethod
    def take_end(self) -> Outcome | None:
        """Return how the process has ended or failed since its last answer, if it has.

        The next call starts the backend again.
        """


def call_backend(
    backend: Backend,
    operator: str,
    inputs: InputArrays,
    attributes: Arguments,
    dirty_sizes: Sequence[int] = (),
) -> Outcome:
    """Make one call; every exception of the backend but a KeyboardInterrupt is an outcome.

    The arrays of a variadic input, which have a key each, reach the backend as a list.
    Freed memory blocks of about `dirty_sizes` bytes are dirtied before the call, where possible.
    """
    if isinstance(backend, IsolatedBackend):
        return backend.call(operator, inputs, attributes, dirty_sizes)
    dirty_freed_memory(dirty_sizes)
    try:
        returned = backend.run(operator, group_variadic(inputs), plain_copy(dict(attributes)))
        outputs = _plain_arrays(returned)
    except NotImplementedError as error:
        return Outcome("unsupported", reason=describe_error(error), lines=own_lines(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return rejection(error)
    return Outcome("outputs", outputs)


def rejection(error: BaseException) -> Outcome:
    """Return the outcome of a call that raised an error, with who rejected it."""
    reason, rejecter, lines = describe_error(error), rejecter_of(error), own_lines(error)
    return Outcome("rejected", reason=reason, rejected_by=rejecter, lines=lines)


def native_code(backend: Backend, operator: str, inputs: InputArrays, attributes: Arguments) -> str:
    """Return the code of a call in the API of the runtime; "" if the backend gives none."""
    # It may have no such method, or cannot write this call.
    with suppress(BackendError), as_backend_error("native"):
        native: Any = backend.native  # type: ignore[attr-defined]
        code = native(operator, group_variadic(inputs), plain_copy(dict(attributes)))
        # Other code is not what people read.
        is_text = isinstance(code, str) and all(line.isprintable() for line in code.split("\n"))
        if is_text and len(code) <= _MAX_CODE:
            return str(code)
    return ""


def rejecter_of(error: BaseException) -> Rejecter:
    """Return who rejected a call: an adapter's exception has `rejected_by = "adapter"`."""
    try:
        return "adapter" if error.rejected_by == "adapter" else "runtime"  # type: ignore[attr-defined]
    except BaseException:
        # The attribute is missing, or is a property that raises.
        return "runtime"


def _plain_arrays(returned: Any) -> Any:
    """Return the items of a list or tuple, with arrays as plain ndarrays.

    A subclass of list, tuple or ndarray could otherwise determine how it is compared.
    """
    if not isinstance(returned, list | tuple):
        return returned
    items = (list if isinstance(returned, list) else tuple).__iter__(returned)  # type: ignore[arg-type]
    return [np.asarray(item) if isinstance(item, np.ndarray) else item for item in items]
