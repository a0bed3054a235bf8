"""A driver that splits tensors, and misbehaves in one way for those of rank 3.

Run as `python misbehaving.py HOW`. It imports only the standard library, and starts quickly.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

SLEEPS = "import time; time.sleep(600)"
OPERATOR = "directml/DML_OPERATOR_SPLIT"
Answer = dict[str, Any]


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def line(answer: Any) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def read(size: int) -> bytes:
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        os._exit(1)
    return data


def split(
    shape: Sequence[int], data: bytes, sizes: Sequence[Sequence[int]], axis: int
) -> Iterator[bytes]:
    """Yield the bytes of each part; `sizes` are their shapes."""
    if sum(size[axis] for size in sizes) != shape[axis]:
        raise ValueError("the parts are not as long as the whole")
    rows = prod(shape[:axis])
    step, begin = len(data) // rows, 0
    for size in sizes:
        length = step * size[axis] // shape[axis]
        starts = range(begin, begin + rows * step, step or 1)
        yield b"".join(data[start : start + length] for start in starts)
        begin += length


def check(tensor: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Reject a call that violates another rule than that of the sum."""
    shape, axis, parts = tensor["shape"], attributes["Axis"], attributes["OutputTensors"]
    prefixes = {"f": "FLOAT", "i": "INT", "u": "UINT"}
    data_type = prefixes[tensor["type"][0]] + tensor["type"][1:]
    valid = 0 < attributes["OutputCount"] == len(parts) and 0 <= axis < len(shape) <= 8
    for part in parts:
        sizes = part["Sizes"]
        off_axis_equal = sizes[:axis] + sizes[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
        valid = valid and part["DataType"] == data_type and min(sizes) >= 0 and off_axis_equal
    if not valid:
        raise ValueError("a call that violates a rule")


def split_call(request: Mapping[str, Any], data: bytes) -> tuple[Answer, bytes]:
    (tensor,) = request["inputs"]
    check(tensor, request["attributes"])
    sizes = [description["Sizes"] for description in request["attributes"]["OutputTensors"]]
    parts = [*split(tensor["shape"], data, sizes, request["attributes"]["Axis"])]
    outputs = [
        {"type": tensor["type"], "shape": shape, "bytes": len(part)}
        for shape, part in zip(sizes, parts, strict=True)
    ]
    return {"id": request["id"], "observed": "outputs", "outputs": outputs}, b"".join(parts)


# What the driver writes instead of an answer and its bytes.
WRITES: Mapping[str, Callable[[Answer, bytes], bytes]] = {
    "garbage": lambda _answer, _data: b"\x89PNG\r\n\x1a\n" * 5,
    "no-json": lambda _answer, _data: b"done\n",
    "no-object": lambda _answer, _data: b"[1, 2]\n",
    "no-utf-8": lambda _answer, _data: b'{"id": "\xff"}\n',
    "deep": lambda _answer, _data: b"[" * 100_000 + b"\n",
    "endless-line": lambda _answer, _data: b"x" * (1 << 25),
    "in-front": lambda answer, data: b"[info] rank 3\n" + line(answer) + data,
    "trailing": lambda answer, data: line(answer) + data + b"done\n",
    "too-many-bytes": lambda answer, data: line(answer) + data + b"\0" * 4,
    "wrong-id": lambda answer, data: line({**answer, "id": answer["id"] - 1}) + data,
    "text-id": lambda answer, data: line({**answer, "id": str(answer["id"])}) + data,
    "no-outputs": lambda answer, _data: line({**answer, "outputs": None}),
    "rejected-with-outputs": lambda answer, data: line({**answer, "observed": "rejected"}) + data,
    "unknown-observed": lambda answer, data: line({**answer, "observed": "ok"}) + data,
    "unknown-key": lambda answer, data: line({**answer, "time": 1}) + data,
    "missing-key": lambda answer, _data: line({"id": answer["id"]}),
    "null-reason": lambda answer, _: line(
        {"id": answer["id"], "observed": "rejected", "reason": None}
    ),
}
# Wrong parts of the description of the first output.
DESCRIBES: Mapping[str, Mapping[str, Any]] = {
    "unknown-type": {"type": "float32"},
    "negative-shape": {"shape": [-1, 2]},
    "huge-shape": {"shape": [1 << 40, 1 << 40], "bytes": 1 << 82},
    "long-shape": {"shape": [0, 1 << 62, 1 << 62], "bytes": 0},
    "deep-shape": {"shape": [1] * 100},
    "fraction": {"shape": [1.5, 2]},
    "no-list": {"shape": 3},
    "wrong-bytes": {"bytes": 3},
    "much": {"type": "u8", "shape": [1 << 33], "bytes": 1 << 33},
}


def dies_in_the_middle(answer: Answer, data: bytes) -> None:
    write(line(answer) + data[: len(data) // 2])
    os.abort()


def gives_less(answer: Answer, data: bytes) -> None:
    write(line(answer) + data[:-1])


@cache
def start_a_child() -> None:
    # Its argument is the process of the test, which looks for it.
    subprocess.Popen([sys.executable, "-c", SLEEPS, str(os.getppid())])


def leaves_a_child(answer: Answer, data: bytes) -> None:
    start_a_child()
    write(line(answer) + data)


def says_much(answer: Answer, data: bytes) -> None:
    for _ in range(20):
        os.write(2, b"rank 3 is hard\n" * 10_000)
    write(line(answer) + data)


def is_no_bool(answer: Answer, data: bytes) -> None:
    for output in answer["outputs"]:
        output["type"] = "boolean"
    write(line(answer) + b"\2" * len(data))


def closes(_answer: Answer, _data: bytes) -> None:
    os.close(1)
    time.sleep(600)


DOES: Mapping[str, Callable[[Answer, bytes], object]] = {
    "abort": lambda _answer, _data: os.abort(),
    "exit": lambda _answer, _data: os._exit(0),
    "kill": lambda _answer, _data: os.kill(os.getpid(), signal.SIGKILL),
    "sleep": lambda _answer, _data: time.sleep(600),
    "dies-in-the-middle": dies_in_the_middle,
    "gives-less": gives_less,
    "closes-stdout": closes,
    "child": leaves_a_child,
    "says-much": says_much,
    "no-bool": is_no_bool,
}
# Wrong parts of the introduction.
INTRODUCES: Mapping[str, Mapping[str, Any]] = {
    "version-2": {"protocol": 2},
    "no-version": {"protocol": None},
    "no-name": {"name": 7},
    "odd-name": {"name": "a\nb"},
    "list-of-support": {"support": []},
    "support-without-how": {"support": {"vendor/Any-1": {}}},
    "support-of-a-type": {"support": {"vendor/Any-1": {"how": "native", "types": ["float"]}}},
    "more-to-say": {"author": "me"},
    "refuses": {"error": "no device 7"},
}
STARTS: Mapping[str, Callable[[], object]] = {
    "exits-at-once": lambda: os._exit(3),
    "greets": lambda: write(b"Welcome!\n"),
    "says-and-exits": lambda: (os.write(2, b"no licence\n"), os._exit(4)),
}


def respond(how: str, answer: Answer, data: bytes) -> None:
    if how in DOES:
        DOES[how](answer, data)
    elif how in WRITES:
        write(WRITES[how](answer, data))
    elif how in DESCRIBES:
        first, *others = answer["outputs"]
        answer = {**answer, "outputs": [{**first, **DESCRIBES[how]}, *others]}
        write(line(answer) + (b"" if "shape" in DESCRIBES[how] else data))
    else:
        write(line(answer) + data)


def main(how: str) -> None:
    STARTS.get(how, lambda: None)()
    sys.stdin.buffer.readline()
    introduction = {"protocol": 1, "name": "misbehaves", "version": "1", "support": None}
    extra = b"ready\n" if how == "writes-after-its-introduction" else b""
    write(line({**introduction, **INTRODUCES.get(how, {})}) + extra)
    if how == "never-reads":
        time.sleep(600)
    for text in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(text)
        data = read(sum(tensor["bytes"] for tensor in request["inputs"]))
        if request["operator"] != OPERATOR:
            unknown = "rejected" if how == "rejects-the-unknown" else "unsupported"
            write(line({"id": request["id"], "observed": unknown}))
            continue
        try:
            answer, outputs = split_call(request, data)
        except Exception as error:
            write(line({"id": request["id"], "observed": "rejected", "reason": repr(error)}))
            continue
        misbehaves = len(request["inputs"][0]["shape"]) == 3
        respond(how if misbehaves else "", answer, outputs)
    if how == "stays":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
