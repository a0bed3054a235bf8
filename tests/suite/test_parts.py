"""What a worker of a cluster checks before it makes a part of a suite."""

from importlib.metadata import version
from pathlib import Path

import pytest

from opcert.errors import OpcertError
from opcert.specification.files import find_spec_files
from opcert.suite.generation import make_part

HERE = version("opcert")


@pytest.mark.slow
def test_shipped_specs_are_found_in_another_folder_too() -> None:
    (path,) = (path for path in find_spec_files(None) if path.stem == "Transpose-1")
    elsewhere = Path("/nowhere", *path.parts[-2:])
    assert make_part("core", 0, HERE, elsewhere) == make_part("core", 0, HERE, path)


def test_a_spec_that_a_worker_lacks_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match=r"^worker on .*gone\.yaml is missing"):
        make_part("core", 0, HERE, tmp_path / "gone.yaml")


def test_a_worker_with_another_version_of_opcert_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OpcertError, match=f"found opcert {HERE}; expected 9.9"):
        make_part("core", 0, "9.9", tmp_path / "any.yaml")
