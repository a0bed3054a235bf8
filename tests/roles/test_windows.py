"""The roles `windows` and `descriptor`: a window of data, and the record of what is copied."""

from pathlib import Path

from tests.roles.made_up import SPECS, holds, random_calls, read

SPEC = SPECS["windows"]


def test_windows_lie_in_data(tmp_path: Path) -> None:
    strides = set()
    for call in random_calls(read(tmp_path, SPEC), 800):
        x, numbers = call.inputs["x"], call.attributes
        windows = zip(numbers["at"], numbers["n"], numbers["by"], x.shape, strict=True)
        most = []
        for offset, size, stride, extent in windows:
            assert 0 <= offset <= extent - size < extent
            most.append(1 + (size - 1) // abs(stride))
            strides.add(stride)
        sizes = zip(numbers["y"]["dims"], most, strict=True)
        assert all(1 <= size <= reached for size, reached in sizes)
        assert numbers["y"]["kind"] == {"f32": "FLOAT", "u8": "BYTE"}[x.type]
    assert strides >= {1, -1, 2, -2, 257, 65537, (1 << 31) - 1}


def test_windows_can_be_tensors(tmp_path: Path) -> None:
    spec = SPEC.replace("types: {T", "types: {I: [i64], T")
    arguments = "".join(spec.splitlines(keepends=True)[6:9])
    spec = spec.replace(arguments, "").replace(
        "x, role: data, type: T, rank: [1, 4], empty: false, text: X.}]",
        "x, role: data, type: T, rank: [1, 4], empty: false, text: X.}, "
        + arguments.replace("list", "I").replace("  - ", "").replace("}\n", "}, ")
        + "]",
    )
    for part in ("at", "n", "by"):
        spec += f"  - {{id: {part}-type, from: {part}.type, clause: T}}\n"
        spec += f"  - {{id: {part}-rank, from: {part}.rank, clause: T}}\n"
    conditions = holds(read(tmp_path, spec))
    assert conditions["nonzero"] == (
        "all(by.values[d] != 0 for d in range(x.rank))",
        ("by-length",),
    )
    assert random_calls(read(tmp_path, spec))


def test_with_surplus_a_list_may_be_longer(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("part: size, of: x", "part: size, of: x, surplus: true"))
    assert holds(spec)["n-length"] == ("len(n) >= x.rank", ())


def test_sizes_by_an_expression(tmp_path: Path) -> None:
    spec = read(tmp_path, SPEC.replace("windows: at", 'extents: "[1 for size in n]"'))
    assert holds(spec)["dims"] == ("list(y['dims']) == list([1 for size in n])", ("rank",))
    for call in random_calls(spec):
        assert call.attributes["y"]["dims"] == [1] * call.inputs["x"].rank
