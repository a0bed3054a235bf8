"""Lets a process that a test starts take the short suite for the core suite; see short_suite.py."""

import os
import sys
from contextlib import suppress
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location

folder = os.environ.get("OPCERT_SHORT_SUITE")
if folder:
    with suppress(ImportError):
        from opcert.settings import PROFILES

        PROFILES["core"] = replace(PROFILES["smoke"], stored=400)
        spec = spec_from_file_location(
            "opcert.generated", f"{folder}/__init__.py", submodule_search_locations=[folder]
        )
        if spec is not None:
            sys.modules["opcert.generated"] = module_from_spec(spec)
