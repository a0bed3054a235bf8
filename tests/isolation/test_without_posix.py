"""Where the system lacks what only POSIX or Linux has, opcert runs backends in its own process."""

from types import SimpleNamespace

import pytest

from opcert.errors import BackendError
from opcert.isolation import supervised
from opcert.isolation.supervised import SupervisedBackend, start_backend
from opcert.settings import RunSettings
from tests.command_line import WRONG, python

# What Windows lacks. The standard library and other packages are imported before it is gone.
PROGRAM = """
import concurrent.futures.process, importlib, os, pkgutil, select, signal, sys, sysconfig
import jinja2, ml_dtypes, numpy, psutil, pydantic, typer
sysconfig.get_config_vars()
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for module, names in (
    (os, "fork getuid killpg memfd_create pread pwrite readv set_blocking setsid waitid"),
    (select, "epoll poll"),
    (signal, "SIGALRM SIGHUP SIGKILL SIGPIPE setitimer"),
):
    for name in names.split():
        vars(module).pop(name, None)
sys.platform = "win32"
import opcert
for package in ("arrays", "certificate", "commands", "exploration", "isolation", "report", "run",
                "suite", "verdicts", "verification"):
    folder = [f"{opcert.__path__[0]}/{package}"]
    for module in pkgutil.iter_modules(folder):
        importlib.import_module(f"opcert.{package}.{module.name}")
for backend in ("reference", sys.argv[1]):
    print(opcert.certify(backend, isolated=False, case="dml-split/drawn-f32-3-*").conformant)
"""


@pytest.mark.slow
def test_everything_imports_and_certifies_without_posix() -> None:
    done = python("-c", PROGRAM, f"{WRONG}:ReturnsViews")
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_without_processes_a_backend_runs_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "os", SimpleNamespace(name="nt"))
    assert not isinstance(start_backend(f"{WRONG}:Right", {}), SupervisedBackend)
    with pytest.raises(BackendError, match="isolation needs Linux or macOS"):
        start_backend(f"{WRONG}:Right", {}, RunSettings(isolated=True))
