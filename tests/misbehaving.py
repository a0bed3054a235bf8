"""Backends that misbehave on calls of rank 3, in ways that need a process of their own.

They call the reference functions without reading a spec, so that their processes start quickly.
"""

import contextlib
import ctypes
import fcntl
import inspect
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from opcert.reference.broadcasting import broadcast_1
from opcert.reference.dml_split import dml_split
from opcert.reference.gathering import gather_8
from opcert.reference.rules import Array, Operator
from opcert.reference.slicing import slice_8
from opcert.reference.variadic_split import variadic_split_1

SLEEPS = "import time; time.sleep(600)"
FUNCTIONS: Mapping[str, Operator] = {
    "directml/DML_OPERATOR_SPLIT": dml_split,
    "openvino/Broadcast-1": broadcast_1,
    "openvino/Gather-8": gather_8,
    "openvino/Slice-8": slice_8,
    "openvino/VariadicSplit-1": variadic_split_1,
}


class OddError(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise TypeError("no text")


def _read_nothing() -> None:
    ctypes.string_at(0)


def _hold_the_lock() -> None:
    # The match takes minutes, and holds the interpreter's lock.
    import re

    re.match(r"(a+)+$", "a" * 40 + "b")


def _grow() -> None:
    arrays = []
    while True:
        arrays.append(np.ones(1 << 22))


def _let_a_child_grow() -> None:
    program = "import time; memory = b'1' * (300 << 20); time.sleep(600)"
    subprocess.run([sys.executable, "-c", program], check=True)


def _print_much() -> None:
    for _ in range(200):
        os.write(1, b'{"observed": "outputs"}\n' * 1000)


def _raise(error: BaseException) -> None:
    raise error


def _leave_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(60,)).start()


@cache
def _leave_a_process() -> None:
    # Only once in a process, since it takes time. Its argument is the process of the test, which
    # looks for it.
    subprocess.Popen([sys.executable, "-c", SLEEPS, str(os.getppid())])


@cache
def _leave_a_daemon() -> None:
    command = [sys.executable, "-c", SLEEPS, str(os.getppid())]
    if os.fork():
        os.wait()
        return
    subprocess.Popen(command, start_new_session=True)
    os._exit(0)


@cache
def _leave_a_session() -> None:
    command = [sys.executable, "-c", SLEEPS, str(os.getppid())]
    subprocess.Popen(command, start_new_session=True, env={})


@cache
def _leave_a_line_of_daemons() -> None:
    # Each starts the next one, and exits.
    if os.fork():
        return
    os.setsid()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        time.sleep(0.05)
    os._exit(0)


def _leave_a_daemon_and(then: Callable[[], Any]) -> None:
    _leave_a_daemon()
    then()


def _end_the_main_thread_later() -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()
    signal.signal(signal.SIGALRM, lambda *_: ctypes.PyDLL(None).pthread_exit(None))
    signal.setitimer(signal.ITIMER_REAL, 0.2)


def _abort_with_an_odd_log() -> None:
    # Such a file cannot be read at any place; some file systems refuse it.
    os.write(1, b"odd")
    with contextlib.suppress(OSError):
        fcntl.fcntl(1, fcntl.F_SETFL, getattr(os, "O_DIRECT", 0))
    os.abort()


def _abort_later() -> None:
    threading.Timer(0.2, os.abort).start()


DOES: Mapping[str, Callable[[], Any]] = {
    "segfault": _read_nothing,
    "abort": os.abort,
    "abort-later": _abort_later,
    "abort-with-odd-log": _abort_with_an_odd_log,
    "daemon": _leave_a_daemon,
    "session": _leave_a_session,
    "line-of-daemons": _leave_a_line_of_daemons,
    "daemon-abort": lambda: _leave_a_daemon_and(os.abort),
    "daemon-sleep": lambda: _leave_a_daemon_and(lambda: time.sleep(600)),
    "end-main-thread": _end_the_main_thread_later,
    "exit": lambda: os._exit(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "loop": _hold_the_lock,
    "sleep": lambda: time.sleep(600),
    "grow": _grow,
    "grow-in-a-child": _let_a_child_grow,
    "close-stdout": lambda: os.closerange(0, 3),
    "print": _print_much,
    "close-all": lambda: os.closerange(3, 256),
    "close-memory": lambda: os.close(int(sys.argv[3])),
    "odd-error": lambda: _raise(OddError()),
    "interrupt": lambda: _raise(KeyboardInterrupt("mine")),
    "leave": lambda: _raise(SystemExit(3)),
    "thread": _leave_a_thread,
    "process": _leave_a_process,
    "fork": os.fork,
}


class _Nameless(type):
    """The type of a class without a name."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")


GIVES: Mapping[str, Callable[[Sequence[Array]], Any]] = {
    "array": lambda outputs: outputs[0],
    "none": lambda _: None,
    "nameless": lambda _: _Nameless("Odd", (), {})(),
    "generator": lambda outputs: (output for output in outputs),
    "lists": lambda outputs: [output.tolist() for output in outputs],
    "scalars": lambda outputs: [3.0 for _ in outputs],
    "objects": lambda outputs: [output.astype(object) for output in outputs],
    "records": lambda outputs: [np.zeros(3, [("a", "i4"), ("b", "f4")]) for _ in outputs],
    "padded-records": lambda outputs: [np.zeros(3, np.dtype("u1,f4", align=True)) for _ in outputs],
    "huge": lambda outputs: [np.zeros(10 << 30, np.uint8) for _ in outputs],
    "text": lambda outputs: [np.array(["a", "b"]) for _ in outputs],
}


class Behaves:
    """Calls the reference functions."""

    name, version = "behaves", "1"

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        if operator not in FUNCTIONS:
            raise NotImplementedError(operator)
        outputs = FUNCTIONS[operator](**inputs, **attributes)
        return self.of_rank_3(outputs) if next(iter(inputs.values())).ndim == 3 else outputs

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        """Return what a call of rank 3 returns, whose right outputs are these."""
        return outputs


class Misbehaves(Behaves):
    """Misbehaves as `how` says, in calls of rank 3, of one operator or of all."""

    name = "misbehaves"

    def __init__(self, how: str, only: str = "") -> None:
        self.how, self.only = how, only
        self.operator = ""

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        self.operator = operator
        return super().run(operator, inputs, attributes)

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        if self.only not in ("", self.operator):
            return outputs
        if self.how in GIVES:
            return GIVES[self.how](outputs)
        DOES[self.how]()
        return outputs


class Leaks(Behaves):
    """Keeps two MiB in each of its quick calls."""

    name = "leaks"

    def __init__(self) -> None:
        self.kept: list[Array] = []

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        self.kept.append(np.ones(2 << 20, np.uint8))
        return super().run(operator, inputs, attributes)


class Unmaps(Behaves):
    """Returns outputs in memory of their own, which is gone `held` calls later."""

    name = "unmaps"

    def __init__(self, held: int) -> None:
        self.held, self.mappings = held, list[tuple[int, int]]()
        self.libc = ctypes.CDLL(None)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            *[ctypes.c_int] * 3,
            ctypes.c_long,
        ]
        self.libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        while len(self.mappings) >= self.held:
            self.libc.munmap(*self.mappings.pop(0))
        return [self.placed(output) for output in outputs]

    def placed(self, output: Array) -> Array:
        size = max(output.nbytes, 1)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address = self.libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        self.mappings.append((address, size))
        memory = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        placed: Array = memory[: output.nbytes].view(output.dtype).reshape(output.shape)
        placed[...] = output
        return placed


# Well-formed answers, of which only the id shows that the worker did not write them.
GUESSED_IDS = ("plausible", "negative", "objects")


def _id_of_the_call() -> int:
    """Return what a worker answers to, which a backend can find in its callers."""
    callers = (frame.frame.f_locals for frame in inspect.stack())
    return int(next(c["request"]["id"] for c in callers if isinstance(c.get("request"), dict)))


class Forges(Behaves):
    """Writes to the pipe and the memory that its process shares with opcert, for rank 3."""

    name = "forges"

    def __init__(self, how: str) -> None:
        self.how = how

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        _, replies, memory = map(int, sys.argv[1:])
        if self.how == "shrink":
            with contextlib.suppress(OSError):
                os.ftruncate(memory, 0)
        else:
            number = 1 if self.how in GUESSED_IDS else _id_of_the_call()
            os.write(replies, self.line(number).encode() + b"\n")
        return outputs

    def line(self, number: int) -> str:
        described: dict[str, Any] = {"type": "f32", "shape": [2, 3], "offset": 0}
        descriptions: dict[str, dict[str, Any]] = {
            "objects": {"type": "|O"},
            "outside": {"offset": 1 << 40},
            "before": {"offset": -64},
            "enormous": {"shape": [1 << 62, 1 << 62]},
            "deep": {"type": "[" * 300 + "]" * 300},
        }
        described |= descriptions.get(self.how, {})
        answer: dict[str, Any] = {
            **{"id": number, "observed": "outputs", "changed": [], "altered_inputs": []},
            **{"reason": "", "rejected_by": None, "lines": [], "outputs": [described], "size": 1},
        }
        changes: dict[str, dict[str, Any]] = {
            "stale": {"id": number - 1},
            "grown": {"size": 1 << 60},
            "negative": {"size": -1},
            "unknown": {"observed": "passed"},
            "unattributed": {"observed": "rejected"},
            "nobody": {"observed": "rejected", "rejected_by": "nobody"},
            "numbers": {"changed": 7},
            "lists": {"changed": [[]]},
            "no-input": {"altered_inputs": ["x" * 1000]},
            "nameless": {"returned": "a\0b"},
        }
        answer |= changes.get(self.how, {})
        lines = {"noise": "{", "array": "[]", "bytes": "\x00\x01"}
        return lines.get(self.how, json.dumps(answer))


class CannotBeMade(Behaves):
    def __init__(self) -> None:
        os.write(2, b"no device\n")
        os.abort()


class CannotAnswer(Behaves):
    def __init__(self) -> None:
        os.closerange(3, 256)


class IsLost(Behaves):
    """Crashes after some calls, and cannot restart, as if its device were lost."""

    name = "is-lost"

    def __init__(self, trace: str, calls: int = 310) -> None:
        self.trace, self.calls = Path(trace), calls
        if self.trace.exists():
            raise OSError("the device is lost")

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        self.calls -= 1
        if not self.calls:
            self.trace.touch()
            os.abort()
        return super().run(operator, inputs, attributes)


class CrashesOnce(Behaves):
    """Crashes in call 305 of its process, soon after the many calls of the first case."""

    name = "crashes-once"
    calls = 0

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        self.calls += 1
        if self.calls == 305:
            os.abort()
        return super().run(operator, inputs, attributes)


class Prints(Behaves):
    """Prints, and is wrong, for rank 3."""

    name = "prints"

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        print("rank 3 is hard", flush=True)
        return [np.zeros_like(output) for output in outputs]


class Interrupts(Behaves):
    """Interrupts its run as a user does, once, in one configuration."""

    name = "interrupts"
    configurations: ClassVar = {"which": ("one", "other", "last")}

    def __init__(self, trace: str, which: str = "other") -> None:
        self.trace = Path(trace)
        self.interrupts = which == "other"

    def of_rank_3(self, outputs: Sequence[Array]) -> Any:
        if self.interrupts and not self.trace.exists():
            self.trace.touch()
            os.kill(os.getppid(), signal.SIGINT)
            time.sleep(600)
        return outputs


class NeverWrites(Behaves):
    """Returns memory that it never writes to."""

    name = "never-writes"

    def run(self, operator: str, inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Any:
        return [np.empty(100, np.uint8)]


class Declares(Misbehaves):
    """Leaves a trace whenever its support is read; crashes for rank 3."""

    reuse = "all"

    def __init__(self, trace: str) -> None:
        super().__init__("abort")
        self.trace = Path(trace)

    @property
    def support(self) -> dict[str, Any]:
        with self.trace.open("a") as file:
            file.write("asked\n")
        return {"directml/DML_OPERATOR_SPLIT": {"how": "native"}}
