"""Workers in this process, which run a task as it is given out, and lose some."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from opcert.workers import Workers


class _Now(Executor):
    """Calls functions at once; each call is first made `lost_calls` times for nothing."""

    def __init__(self, lost_calls: int) -> None:
        self.lost_calls = lost_calls

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            for _number in range(self.lost_calls):
                function(*arguments)
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class WorkersHere(Workers):
    """As many workers as `count` says, which share this process.

    `change` changes what a task comes to, or raises instead.
    """

    def __init__(
        self, count: int = 2, change: Callable[[Any], Any] = lambda it: it, lost_calls: int = 0
    ) -> None:
        super().__init__(_Now(lost_calls))
        self._count, self._change = count, change

    @property
    def count(self) -> int:
        return self._count

    def result(self, future: Future[Any]) -> Any:
        return self._change(super().result(future))

    def check(self) -> None: ...

    def end(self, function: Callable[..., object], *arguments: object) -> None:
        function(*arguments)

    def close(self) -> None: ...
