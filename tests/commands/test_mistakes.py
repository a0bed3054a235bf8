"""What a user can get wrong on the command line: each mistake is explained in one line."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from opcert.suite.suite import core_suite_folder
from tests import samples
from tests.command_line import opcert
from tests.commands.test_help import LOADED, OPTIONS
from tests.small_suite import write

BACKEND = "class Backend:\n    name, version = 'b', '1'\n    def run(self, *_): return []\n"
CASE = "dml-split/example-1"
SPEC = "operator: vendor/A-1\nslug: a-1\n"

# The files of the user's folder, by path; next to them are those that are made of a certificate.
FILES: Mapping[str, str] = {
    "acme.py": BACKEND,
    "src/acme.py": BACKEND,
    "json.py": BACKEND,
    "syntax.py": "class Backend:\n    def run(self) return []\n",
    "imports.py": "import absent_runtime\n" + BACKEND,
    "raises.py": "raise RuntimeError('no licence')\n",
    "exits.py": "import sys\nsys.exit('no device')\n",
    "binary.py": "\x00",
    "empty.py": "",
    "broken.py": BACKEND
    + "class NoRun:\n    name, version = 'b', '1'\n"
    + "class NoName(Backend):\n    name = ''\n"
    + "class Numbered(Backend):\n    version = 1.0\n"
    + "class Unmade(Backend):\n    def __init__(self): {}['device']\n"
    + "class Abstract(Backend):\n    def __init__(self, device): pass\n"
    + "class Declares(Backend):\n    support = ['Slice-8']\n"
    + "class DeclaresType(Backend):\n"
    + "    support = {'openvino/Slice-8': {'how': 'native', 'types': ['float']}}\n"
    + "def nothing(): return None\n"
    + "made = Backend()\n"
    + "LIMIT = 3\n",
    "notes.txt": "years of work",
    "a.out": "",
    "slice.cpp": "",
    "nothing.json": "",
    "list.json": "[]",
    "old.json": json.dumps({"schema": 1}),
    "thesis/chapter.html": "<p>years of work",
    "claim.yaml": "operators: {openvino/Slice8: {}}\n",
    "claim_types.yaml": "operators: {openvino/Slice-8: {types: [f31]}}\n",
    "claim_list.yaml": "- openvino/Slice-8\n",
    "waivers.yaml": "- {case: '*', reason: r, owner: o, link: l, expires: tomorrow}\n",
    "waivers_key.yaml": "- {casse: '*', reason: r, owner: o, link: l, expires: '2099-01-01'}\n",
    "waivers_none.yaml": "- {case: nope, reason: r, owner: o, link: l, expires: '2099-01-01'}\n",
    "bad.yaml": "operators: {a: [\n",
    "suite/manifest.json": "{}",
    "old_suite/manifest.json": json.dumps({"format": 1, "files": {}}),
    "specs/a.yaml": SPEC,
    "tabs.yaml": "operator:\tx\n",
}

INSIDE = str(core_suite_folder() / "new")
CERTIFY = ("certify", "--in-process", "--case", CASE)
CLAIM = ("claim", "--from", "right", "-o")
GPU = ("--backend-option", "device=GPU")

# Each mistake: the command line, and a pattern of the message.
MISTAKES: list[tuple[tuple[str, ...], str]] = [
    # commands and options
    (("cerify",), r"unknown command 'cerify'; did you mean 'certify'\?"),
    (("Certify",), r"unknown command 'Certify'; did you mean 'certify'\?"),
    (("run", "my_backend.py"), r"unknown command 'run'; expected one of certify, backends"),
    (("--bogus",), r"no such option: --bogus; see `opcert --help`"),
    (("certify", "--bakend", "x"), r"no such option: --bakend .*--backend.*; see `opcert certify"),
    (("certify", "--operators", "*"), r"no such option: --operators .*--operator"),
    (
        ("certify", "--profile", "x"),
        r"--profile: unknown profile 'x'; expected smoke, core",
    ),
    (("certify", "-z"), r"no such option: -z; see `opcert certify --help`"),
    (("certify", "--suite"), r"option '--suite' requires an argument; see `opcert"),
    (("certify", "--resume=1"), r"option '--resume' does not take a value; see `opcert"),
    (("certify", "acme.py:Backend"), r"unexpected argument 'acme.py:Backend'; see `opcert certify"),
    (("schema", "spec"), r"unexpected argument 'spec'; see `opcert schema --help`"),
    (("certify", "--case", "a", "--case", "b"), r"--case: found 2 times; expected once"),
    (("certify", "-b", "a", "--backend", "b"), r"--backend: found 2 times; expected once"),
    # numbers
    (("generate", "--profile", "large"), r"--profile: unknown profile 'large'; expected smoke, c"),
    (("generate", "--profile", "Core"), r"--profile: unknown profile 'Core'; expected smoke, core"),
    (("generate", "--format", "npy"), r"unknown format 'npy'; expected suite, onnx-backend-test o"),
    # options that need or contradict others
    (("certify", "--resume"), r"--resume needs --out, the folder of the certificate to continue"),
    (("certify", "--resume", "-o", "new"), r"/new/certificate.json: No such file.*; expected a c"),
    (("certify", "--resume", "-o", "several"), r"several: found certificates of 2 configurations"),
    (("explain", CASE, *GPU), r"--backend-option needs --backend, the backend that takes the opt"),
    (("certify", "--backend-option", "device"), r"invalid --backend-option 'device'; expected KE"),
    (("explore", "--backend-option", "device"), r"invalid --backend-option 'device'; expected KE"),
    (("driver-check", "cat", "--backend-option", "device"), r"option 'device'; expected KEY=VALUE"),
    (("certify", "--backend-option", "=GPU"), r"invalid --backend-option '=GPU'; expected KEY=VA"),
    (("certify", *GPU, *GPU), r"duplicate --backend-option 'device': found 'GPU' and 'GPU'; exp"),
    # what is selected
    (("certify", "--operator", "openvino/Slice8"), r"no operator .*did you mean 'openvino/Slice-8"),
    (("certify", "--operator", "Slice-8"), r"no operator matches 'Slice-8'; did you mean 'openvi"),
    (("certify", "--operator", "*/Slic8"), r"no operator matches '\*/Slic8'; did you mean 'openv"),
    (("certify", "--operator", "*/Slice-8,x/*"), r"no operator matches 'x/\*'"),
    (("certify", "--operator", "OPENVINO/*"), r"no operator matches 'OPENVINO/\*'; "),
    (("certify", "--operator", "onnx/Slice-13"), r"no operator matches 'onnx/Slice-13'; did you"),
    (("certify", "--operator", ""), r"no operator matches ''; expected one of "),
    (("explore", "--operator", ""), r"no operator matches ''; expected one of "),
    (("docs", "-o", "d", "--operator", "x", "--suite", "small"), r"no operator matches 'x'"),
    (("certify", "--case", "dml-split/exampel-1"), r"no case .*; did you mean 'dml-split/example"),
    (("certify", "--case", "nope", "-o", "new"), r"no case matches 'nope'; one is 'dml-split/"),
    (("certify", "--feature-level", "9"), r"no operator has feature level '9'; expected one of "),
    (("explain", "gather-8/exampel-1"), r"has no case .*; did you mean 'gather-8/example-1'\?"),
    (("explain", CASE, "-b", "refrence"), r"unknown backend 'refrence'; did you mean 'reference'"),
    (("explain", "gather-8/*"), r"cases match 'gather-8/\*', expected one: gather-8/example-1, "),
    (("explain", "right"), r"right: is a folder; expected the id of a case, such as those in the"),
    (("explain", "several"), r"several: found certificates of 2 configurations; expected one"),
    (("explain", "acme.py"), r"acme.py: is a file; expected the id of a case"),
    # the name of a backend
    (("certify", "-b", "./a.out"), r"unknown backend './a.out'; did you mean 'driver:./a.out'\?$"),
    ((*CERTIFY, "-b", "slice.cpp:Backend"), r"slice.cpp is another file; expected a Python file$"),
    (("certify", "-b", "acme"), r"unknown backend 'acme'; did you mean 'acme.py:Backend'\?$"),
    (("certify", "-b", "acme.py"), r"unknown backend 'acme.py'; did you mean 'acme.py:Backend'\?"),
    ((*CERTIFY, "-b", "acme.py:"), r"'acme.py:' names no attribute; did you mean 'acme.py:Backe"),
    ((*CERTIFY, "-b", "acme.Backend"), r"unknown .*; did you mean 'acme.py:Backend'\?$"),
    ((*CERTIFY, "-b", "src/acme:Backend"), r"no module src/acme; did you mean 'src/acme.py:Backe"),
    ((*CERTIFY, "-b", "src.acme.Backend"), r"unknown .*; did you mean 'src/acme.py:Backend'\?$"),
    ((*CERTIFY, "-b", "json:Backend"), r"has no 'Backend'; did you mean 'json.py:Backend'\?$"),
    ((*CERTIFY, "-b", "acme.py:Backand"), r"acme.py has no 'Backand'; did you mean 'acme.py:Back"),
    ((*CERTIFY, "-b", "no_module:Backend"), r"there is no module no_module; a backend in a file"),
    ((*CERTIFY, "-b", "none.py:Backend"), r"none.py does not exist; expected a Python file"),
    ((*CERTIFY, "-b", "src:Backend"), r"src has no 'Backend'; expected a class, a factory or"),
    ((*CERTIFY, "-b", ""), r"unknown backend ''; expected one of reference"),
    ((*CERTIFY, "-b", "empty.py:Backend"), r"empty.py has no 'Backend'; expected a class, a fact"),
    # a backend that is broken
    ((*CERTIFY, "-b", "syntax.py:Backend"), r"syntax.py cannot be imported: SyntaxError: .*line 2"),
    ((*CERTIFY, "-b", "imports.py:Backend"), r"No module named 'absent_runtime' \(at imports"),
    ((*CERTIFY, "-b", "raises.py:Backend"), r"RuntimeError: no licence \(at raises.py:1, in <mod"),
    ((*CERTIFY, "-b", "exits.py:Backend"), r"SystemExit: no device \(at exits.py:2, in <module>:"),
    (
        (*CERTIFY, "-b", "binary.py:Backend"),
        r"binary.py cannot be imported: (SyntaxError|ValueError): .*null",
    ),
    ((*CERTIFY, "-b", "broken.py:NoRun"), r"'broken.py:NoRun' is not a backend: it lacks run; ex"),
    ((*CERTIFY, "-b", "broken.py:NoName"), r"name: found ''; expected printable text"),
    ((*CERTIFY, "-b", "broken.py:Numbered"), r"version: found 1.0; expected printable text"),
    ((*CERTIFY, "-b", "broken.py:Unmade"), r"constructed: KeyError: 'device' \(at broken.py:\d+"),
    ((*CERTIFY, "-b", "broken.py:Abstract"), r"missing 1 required .*'device'"),
    ((*CERTIFY, "-b", "broken.py:Backend", *GPU), r"unexpected keyword argument 'device'|takes no"),
    ((*CERTIFY, "-b", "broken.py:made", *GPU), r"'broken.py:made' is an instance and takes no op"),
    ((*CERTIFY, "-b", "broken.py:nothing"), r"'broken.py:nothing' is not a backend: it lacks nam"),
    ((*CERTIFY, "-b", "broken.py:LIMIT"), r"'broken.py:LIMIT' is not a backend: it lacks name, v"),
    ((*CERTIFY, "-b", "broken.py:Declares"), r"support: .*expected"),
    ((*CERTIFY, "-b", "broken.py:DeclaresType"), r"unknown type of openvino/Slice-8 'float'; exp"),
    (("certify", "--case", CASE, "-b", "broken.py:Unmade"), r"KeyError: 'device' \(at broken.py"),
    # drivers
    (("certify", "-b", "driver:node", "a.mjs"), r"'a.mjs'; .*quote the command of a driver: '"),
    (("driver-check", "node", "a.mjs"), r"'a.mjs'; .*quote the command of a driver: '"),
    (("driver-check", "./a", "--fast"), r"--fast; .*quote the command of a driver: './my_driver -"),
    (("certify", "-b", "driver:"), r"'driver:' has no command; expected driver:COMMAND"),
    (("certify", "-b", "driver:./none"), r"driver './none' cannot be started: No such file"),
    (("certify", "-b", "driver:'./none"), r"cannot be split into words: No closing quotation"),
    (("driver-check", "./acme.py"), r"driver './acme.py' cannot be started: Permission denied"),
    (("driver-check", "/no/driver"), r"driver '/no/driver' cannot be started: No such file"),
    # certificates
    (("verify", "right", "--rerun", "3"), r"--rerun and --backend need each other"),
    (("verify", "right", "-b", "reference"), r"--rerun and --backend need each other"),
    (("verify", "right", "--seed", "1"), r"--seed and --backend-option need both"),
    (("verify", "right", *GPU), r"--seed and --backend-option need both"),
    # folders and files to write
    ((*CLAIM, "claim.yaml"), r"claim.yaml: exists; remove it or name another file with --out"),
    ((*CLAIM, "new.yaml", "--suite", "small"), r"name the folder of the certificate"),
    ((*CLAIM, INSIDE), r"is inside the suite .*; expected a path outside"),
    ((*CLAIM, "locked/claim.yaml"), r"locked: cannot be written: Permission denied; name"),
    # suites and specs
    (("report", "right", "-o", "new", "--suite", "nowhere"), r"nowhere/manifest.json: .*expected"),
    (("report", "right", "-o", "new", "--suite", "small"), r"name the folder of the certificate"),
    (("report", "stranger.json", "-o", "new"), r"a case that its suite does not have"),
    (("report", "excerpt.json", "-o", "new"), r"excerpt whose elements do not lie in an output"),
    (("certify", "--cluster", "nowhere"), r"expected the address of a dask scheduler"),
    (("certify", "--cluster", "x", "--jobs", "2"), r"--jobs and --cluster contradict each other"),
    (("certify", "--cluster-resources", "GPU=1"), r"--cluster-resources needs --cluster, the ad"),
    (("certify", "--cluster", "x", "--cluster-resources", "GPU"), r"an amount of GPU"),
    (("certify", "--cluster", "x", "--cluster-resources", "=1"), r"expected NAME=AMOUNT, such"),
    (("certify", "--specs", "thesis"), r"no spec in thesis; expected a folder with \*.yaml files"),
    (("certify", "--specs", "specs"), r"^specs/a.yaml:1:1: .*missing"),
    (("check", "nowhere.yaml"), r"nowhere.yaml:1:1: .*No such file"),
    (("check", "--no-strength", "tabs.yaml"), r"^tabs.yaml:1:1: missing key 'document'"),
    (("check", "thesis"), r"thesis:1:1: .*folder"),
    (("check", "specs/a.yaml", "--specs", "specs"), r"FILE and --specs contradict each other"),
    (("check", "acme.py"), r"^acme.py:\d+:\d+: "),
    # claims and waivers
    (("certify", "--claim", "nowhere.yaml"), r"nowhere.yaml:1:1: .*No such file"),
    (("certify", "--claim", "claim.yaml"), r"^claim.yaml:1:13: .*did you mean 'openvino/Slice-8'"),
    (("certify", "--claim", "claim_types.yaml"), r"^claim_types.yaml:1:\d+: .*'f31'; did you mea"),
    (("certify", "--claim", "claim_list.yaml"), r"^claim_list.yaml:1:1: "),
    (("certify", "--claim", "bad.yaml"), r"^bad.yaml:\d:\d+: "),
    (("certify", "--claim", "thesis"), r"thesis:1:1: .*folder"),
    (("certify", "--waivers", "waivers.yaml"), r"waivers.yaml:1:54: found .tomorrow.; expected a"),
    (("certify", "--waivers", "waivers_key.yaml"), r"waivers_key.yaml:1:\d+: .*'casse'"),
    (
        (*CERTIFY, "--waivers", "waivers_none.yaml"),
        r"^waivers_none.yaml:1:10: unused waiver: no case of",
    ),
]

# What these commands need besides.
NEEDED = {
    "claim": (*CLAIM, "c.yaml")[1:],
    "docs": ("-o", "d"),
    "explain": (CASE,),
    "generate": ("-o", "s"),
    "report": ("right",),
    "verify": ("right",),
}
# The mistakes of every command that has an option or an argument of this kind.
MISTAKES += [
    ((name,), rf"missing (argument '[A-Z]+'|option '--.*'); see `opcert {name} --help`")
    for name, command in LOADED.items()
    if any(parameter.required for parameter in command.params)
]
MOST = 1 << 62
NUMBERS = {
    "--timeout": (f"a number of seconds from 0.001 to {MOST}", ["abc", "-5", "5s", "inf", "nan"]),
    "--memory": (f"a whole number of MiB from 0 to {MOST}", ["4G", "-1", "1.5"]),
    "--minutes": (f"a number of minutes from 0.01 to {MOST}", ["0", "x", "1e19"]),
    "--seed": (f"a whole number from -{MOST} to {MOST}", ["1.5", "x", "9" * 19]),
    "--jobs": ("a number of worker processes from 1 to 512", ["0", "x", "100000"]),
    "--max-crashes": (f"a whole number from 1 to {MOST}", ["0"]),
    "--rerun": (f"a number of cases from 0 to {MOST}", ["-1", "9" * 19]),
}
MISTAKES += [
    ((name, option, text), rf"{option}: found '{text}'; expected {expected}")
    for option, (expected, texts) in NUMBERS.items()
    for name in OPTIONS
    if option in OPTIONS[name]
    for text in texts
]
VALUES = {
    ("--operator", "x/y"): r"no operator matches 'x/y'; expected one",
    ("--backend", "refrence"): r"unknown backend 'refrence'; did you mean 'reference'",
    ("--in-process", "--backend", "driver:true"): r"a driver runs in a process of its own; omit",
    ("--in-process", "--timeout", "5"): r"a backend in this process has no limit of timeout; omit",
    ("--specs", "nowhere"): r"no spec in nowhere; expected a folder with \*.yaml files",
}
MISTAKES += [
    ((name, *NEEDED.get(name, ()), *option), message)
    for option, message in VALUES.items()
    for name in OPTIONS
    if option[0] in OPTIONS[name]
    # Without --rerun, it does not come to it.
    if (name, option[0]) != ("verify", "--backend")
]
MISTAKES += [
    ((name, *NEEDED.get(name, ()), *pair), f"{first} and {second} contradict each other; choose")
    for pair in (("--suite", "s", "--profile", "core"), ("--cluster", "c", "--jobs", "1"))
    for first, second in [sorted(pair[::2], reverse=True)]
    for name in OPTIONS
    if {first, second} <= OPTIONS[name]
]
NO_SUITES = {
    "nowhere": r"nowhere/manifest.json: .*expected a folder that `opcert generate` wrote",
    "thesis": r"thesis/manifest.json: .*expected a folder that `opcert generate` wrote",
    "notes.txt": r"notes.txt/manifest.json: .*expected a folder that `opcert generate` wrote",
    "suite": r"suite/manifest.json: .*generate the suite again",
    "old_suite": r"old_suite/manifest.json: .*generate the suite again",
}
MISTAKES += [
    ((name, *NEEDED.get(name, ()), "--suite", path), message)
    for name in OPTIONS
    # A report is made of a suite if it is written.
    if "--suite" in OPTIONS[name] and name != "report"
    for path, message in NO_SUITES.items()
]
NO_CERTIFICATES = {
    "nowhere": r"nowhere: No such file or directory; expected a certificate",
    "thesis": r"thesis/certificate.json: No such file or directory; expected a certificate",
    "notes.txt": r"notes.txt: not JSON: .*; .*expected it as opcert wrote it",
    "nothing.json": r"nothing.json: not JSON: .*; .*expected it as opcert wrote it",
    "list.json": r"list.json: is not a certificate; expected a certificate that",
    "old.json": r"old.json: found schema 1; expected schema \d+; use the version of",
    "cut.json": r"cut.json: not JSON: .*; the file was changed or truncated",
    "changed.json": r"conformant: found false, but true follows from the rest; the file",
    "several": r"several: found certificates of 2 configurations; .*name several/feed=dynamic or",
}
READERS = [
    ("report",),
    ("report", "right"),
    ("verify",),
    ("explore", "--known"),
    ("claim", "-o", "new.yaml", "--from"),
    ("waivers", "-o", "new.yaml", "--from"),
]
MISTAKES += [
    ((*reader, path), message) for reader in READERS for path, message in NO_CERTIFICATES.items()
]
MISTAKES += [
    (("report", *of), r"--suite and --specs give a written report its cases; expected one ")
    for of in (("right", "--suite", "s"), ("right", "faulty", "--out", "new", "--suite", "s"))
]
WRITERS = {
    ("certify",): "results",
    ("docs",): "the Markdown of `opcert docs`",
    ("generate",): "a suite",
    ("report", "right"): "a report",
    ("report", "right", "faulty"): "a report",
}
MISTAKES += [
    ((*writer, "-o", place), message)
    for writer, kind in WRITERS.items()
    for place, message in {
        "thesis": rf"thesis: contains chapter.html, not part of {kind} that opcert wrote; move it",
        "notes.txt": r"notes.txt: is not a folder; expected a folder, or a new path",
        "notes.txt/new": r"notes.txt: is not a folder; expected a folder, or a new path",
        "locked/new": r"locked: cannot be written: Permission denied; name another folder",
        INSIDE: "is inside the suite .*; expected a path outside",
    }.items()
    # A suite may be written over the core suite's.
    if (writer, place) != (("generate",), INSIDE)
]

# A message says what was expected, or what to do.
ADVICE = re.compile(
    r"expected|did you mean|see `opcert|need|choose|quote|name (another|the folder)|remove|"
    r"generate the suite again|one is|\(at \w+\.py:\d|use the version|a backend in a file|"
    r"omit|takes no options|does not|cannot|missing"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a user."""
    folder = tmp_path_factory.mktemp("user")
    certificate = samples.right().to_json()
    first, *others = samples.right().verdicts
    stranger = samples.right().replace(verdicts=(replace(first, case="a/b"), *others))
    write(folder / "small")
    made = {
        "changed.json": certificate.replace('"conformant": true', '"conformant": false'),
        "cut.json": certificate[:2000],
        "stranger.json": stranger.to_json(),
        "excerpt.json": re.sub(r'"start": \d+', '"start": 9999999', samples.faulty().to_json()),
        "faulty/certificate.json": samples.faulty().to_json(),
        "right/certificate.json": certificate,
        "several/feed=static/certificate.json": certificate,
        "several/feed=dynamic/certificate.json": certificate,
    }
    for name, text in {**FILES, **made}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "locked").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    # Root may write anywhere.
    access = os.access
    locked = folder / "locked"
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != locked and access(path, mode)
    )


def files(folder: Path) -> set[str]:
    return {path.as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize(
    ("arguments", "message"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES]
)
def test_a_mistake_is_explained_in_one_line(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = files(folder)
    result = opcert(*arguments)
    assert result.exit_code == 2, result.output
    assert not result.stdout or arguments[0] == "report"
    assert "Traceback" not in result.output
    assert re.search(message, result.stderr.removeprefix("opcert: error: ")), result.stderr
    first, *others = result.stderr.splitlines()
    place = re.match(r"[\w./]+:\d+:\d+: ", first)
    assert first.startswith("opcert: error: ") or place, first
    assert place or not others, others
    assert ADVICE.search(first), first
    assert files(folder) == before
    assert not Path(INSIDE).exists()


def test_there_are_more_than_a_hundred_mistakes() -> None:
    assert len({arguments for arguments, _ in MISTAKES}) == len(MISTAKES) >= 105
