"""A series of suites, and the certificates of a right and a wrong backend."""

from pathlib import Path

import pytest

from opcert import generate
from tests import small_spec
from tests.small_series import BACKENDS, run


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with specs, a series of three copies of their suite, and backends."""
    home = tmp_path_factory.mktemp("home")
    (home / "specs").mkdir()
    small_spec.spec(home / "specs")
    generate(home / "series", home / "specs", seed=4, repeat=3)
    (home / "b.py").write_text(BACKENDS)
    return home


@pytest.fixture(scope="session")
def right(home: Path) -> Path:
    """The certificates of a conformant backend, which no test changes."""
    assert run(home, home / "right").exit_code == 0
    return home / "right"


@pytest.fixture(scope="session")
def wrong(home: Path) -> Path:
    """The certificates of a wrong backend, which no test changes."""
    assert run(home, home / "wrong", backend="Wrong").exit_code == 1
    return home / "wrong"
