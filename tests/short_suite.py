"""The core suite as tests run it: a tenth of the drawn calls and half of the negative cases."""

import gzip
import json
import os
import shutil
from hashlib import sha256
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from typing import Any

from opcert import settings
from opcert.cases.drawn import DRAWN
from opcert.settings import PROFILES

# The folder of the core suite that comes with opcert.
CORE = Path(__file__).parents[1] / "generated"
# The profile of the core suite, which `install` makes smaller.
CORE_PROFILE = run_path(str(Path(settings.__file__)))["PROFILES"]["core"]
_SITE = Path(__file__).parent / "short_site"
# The folder of the short suite, for this process and those that it starts.
_VARIABLE = "OPCERT_SHORT_SUITE"
_FOLDER = TemporaryDirectory(prefix="opcert-short-")


def install() -> None:
    """Let this process, and those that it starts, take the short suite for the core suite."""
    if _VARIABLE not in os.environ:
        _write(Path(_FOLDER.name))
        os.environ[_VARIABLE] = _FOLDER.name
        paths = (str(_SITE), os.environ.get("PYTHONPATH", ""))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    run_path(str(_SITE / "sitecustomize.py"))


def _write(folder: Path) -> None:
    shutil.copytree(CORE, folder, dirs_exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    for entry in manifest["operators"].values():
        path = folder / entry["index"]
        facts, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        kept = _shortened({line: json.loads(line) for line in lines})
        text = "".join(f"{line}\n" for line in (facts, *kept)).encode()
        path.write_bytes(gzip.compress(text, 1))
        manifest["files"][entry["index"]] = sha256(text).hexdigest()
        entry["cases"] = len(kept)
        entry["rejections"] = sum(case["expects"] == "rejection" for case in kept.values())
        entry["implementation_defined"] = sum("ambiguity" in case for case in kept.values())
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _shortened(cases: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the cases without late drawn calls and without half of the negative cases."""

    def is_kept(case: dict[str, Any]) -> bool:
        if case["expects"] == "rejection" and "ambiguity" not in case:
            # Their ids end with digits of a digest.
            return case["id"][-1] in "02468ace"
        name = case["id"].partition("/")[2]
        return not name.startswith(DRAWN) or int(name[-6:]) < PROFILES["smoke"].calls

    kept = {line: case for line, case in cases.items() if is_kept(case)}
    needed = {case.get("baseline") for case in kept.values()}
    return {line: case for line, case in cases.items() if line in kept or case["id"] in needed}
