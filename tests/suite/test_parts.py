"""A cluster makes the same parts of a suite as this process does."""

from pathlib import Path

from opcert import generate
from opcert.cluster import Cluster
from opcert.specification import find_spec_files
from opcert.suite.parts import PartTask, make_part, make_part_elsewhere


def test_a_series_made_on_a_cluster_is_that_of_one_process(tmp_path: Path) -> None:
    operator = "openvino/Transpose-1"
    with Cluster("local:2") as cluster:
        generate(tmp_path / "series", operator=operator, repeat=2, cluster=cluster)
    for copy in ("copy-00", "copy-01"):
        folder = tmp_path / "series" / copy
        assert generate(folder, operator=operator, seed=int(copy[-1]), check=True) == []


def test_shipped_specs_are_found_in_another_folder_too() -> None:
    (path,) = (path for path in find_spec_files(None) if path.stem == "Transpose-1")
    elsewhere = PartTask(Path("/nowhere", *path.parts[-2:]), "core", 0)
    assert make_part_elsewhere(elsewhere) == make_part(elsewhere._replace(spec=path))


def test_a_spec_that_a_worker_lacks_is_a_mistake(tmp_path: Path) -> None:
    part = make_part_elsewhere(PartTask(tmp_path / "gone.yaml", "core", 0))
    assert isinstance(part, list)
    assert "gone.yaml" in str(part[0])
