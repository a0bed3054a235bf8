"""Redaction: a certificate has no names and folders of the machine that it was made on."""

import getpass
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert import certify
from opcert.certificate.setup import stated_arguments
from opcert.verdicts import verdict
from opcert.verdicts.verdict import redact_text
from tests import wrong_backends as wrong
from tests.faults.finding import core_suite


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine whose user, host and folders have recognisable names."""
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home" / "project")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/scratch/t")
    monkeypatch.setattr(getpass, "getuser", lambda: "jdoe")
    monkeypatch.setattr(socket, "gethostname", lambda: "lab7.example.com")
    verdict._replacements.cache_clear()
    yield tmp_path / "home"
    verdict._replacements.cache_clear()


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("no file {home}/a/b.so", "no file <home>/a/b.so"),
        ("{home}/project/my_backend.py:3", "<here>/my_backend.py:3"),
        ("in '{home}'", "in '<home>'"),
        ("{home}stead is {home}", "<path>/homestead is <home>"),
        ("/scratch/t/x.log", "<temp>/x.log"),
        (f"{sys.prefix}/bin/python", "<python>/bin/python"),
        ("dlopen(/opt/vendor/lib/x.so): no", "dlopen(<path>/x.so): no"),
        ("file:///opt/vendor/x.so", "file://<path>/x.so"),
        ("PATH=/opt/a/b:/opt/c/d", "PATH=<path>/b:<path>/d"),
        (r"at C:\Users\Jane\x.dll", "at <path>/x.dll"),
        ("jdoe@lab7: lab7.example.com", "<user>@<host>: <host>"),
        ("cache-of-jdoe_1", "cache-of-<user>_1"),
        ("/dev/dri/renderD128 is lost", "/dev/dri/renderD128 is lost"),
        ("https://example.com/issues/17", "https://example.com/issues/17"),
        ("1/2, and/or, a/b/c, f32[2, 3]", "1/2, and/or, a/b/c, f32[2, 3]"),
        ("jdoes and lab77", "jdoes and lab77"),
        ("", ""),
    ],
)
def test_folders_and_names_are_replaced(machine: Path, text: str, redacted: str) -> None:
    assert redact_text(text.format(home=machine)) == redacted


@given(st.text(r"/\:.~<>-= abCD", max_size=40))
def test_no_folder_is_left(text: str) -> None:
    assert verdict._PATH.search(redact_text(text)) is None


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("name", ["root", "x"])
def test_a_name_of_anybody_stays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: name)
    assert redact_text(f"at the {name} of it") == f"at the {name} of it"


def test_there_need_be_no_user_home_or_folder(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> str:
        raise OSError

    monkeypatch.setattr(getpass, "getuser", fails)
    (machine / "project").rmdir()
    assert redact_text("/opt/vendor/x.so") == "<path>/x.so"


class Reveals(wrong.Right):
    """Reveals names of the machine in errors, messages and types."""

    def run(self, operator: str, inputs: wrong.Inputs, attributes: wrong.Attributes) -> Any:
        known = f"{Path.home()} {Path.cwd()} {__file__} {getpass.getuser()} {socket.gethostname()}"
        rank = next(iter(inputs.values())).ndim
        if rank == 1:
            raise NotImplementedError(known)
        if rank == 2:
            raise ValueError(known)
        if rank == 3:
            return [np.zeros(1, np.dtype([(f"{Path.home()}/x", "i4")]))]
        return super().run(operator, inputs, attributes)


@pytest.mark.parametrize(
    ("option", "stated"),
    [
        ("/home/john doe/secret project/lib.so", "<path>/lib.so"),
        (r"C:\Users\john doe\lib.dll", "<path>/lib.dll"),
        (r"\\server\share\jdoe\lib.dll", "<path>/lib.dll"),
        ("/usr/share", "<path>"),
        ("/dev/accel/0", "/dev/accel/0"),
        ("GPU:0", "GPU:0"),
        ("/GPU:0", "/GPU:0"),
    ],
)
def test_an_option_that_is_a_path_keeps_its_last_part(option: str, stated: str) -> None:
    assert stated_arguments("x", {"lib": option})["options"] == {"lib": stated}


def test_a_certificate_does_not_identify_the_machine(machine: Path) -> None:
    options = {"model": f"{machine}/model.bin", "list": [{"cache": "/opt/jdoe/cache"}]}
    certificate = certify(Reveals(), core_suite(), operator="directml/*", options=options)
    text = certificate.to_json()
    assert certificate.backend.options == {
        "model": "<home>/model.bin",
        "list": [{"cache": "<path>/cache"}],
    }
    assert "<home>" in text
    for name in (str(machine), str(Path(__file__).parents[1]), "jdoe", "lab7"):
        assert name not in text
