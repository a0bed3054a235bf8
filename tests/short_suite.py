"""The core suite as tests run it: a tenth of the drawn calls and half of the negative cases."""

import os
import shutil
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory

from opcert import settings
from opcert.cases.drawn import drawn_number
from opcert.settings import PROFILES
from tests.few_cases import Cases, keep_cases, with_baselines

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
        shutil.copytree(CORE, _FOLDER.name, dirs_exist_ok=True)
        keep_cases(Path(_FOLDER.name), _shortened)
        os.environ[_VARIABLE] = _FOLDER.name
        paths = (str(_SITE), os.environ.get("PYTHONPATH", ""))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    run_path(str(_SITE / "sitecustomize.py"))


def _shortened(cases: Cases) -> set[str]:
    """Leave out late drawn calls, and half of the negative cases."""

    def is_kept(name: str) -> bool:
        if cases[name]["expects"] == "rejection" and "ambiguity" not in cases[name]:
            # Their ids end with digits of a digest.
            return name[-1] in "02468ace"
        number = drawn_number(name)
        return number is None or number < PROFILES["smoke"].calls

    return with_baselines({*filter(is_kept, cases)}, cases)
