"""Deviations of runtimes from the documents: a program for each, in the runtime's own API.

`python -m tests.backends.findings` lists them. With a name it prints that program, with
`--markdown` the guide's table. `test_findings.py` runs those of the runtimes that are installed.
"""

# In the order of the guide's table.
from tests.backends.findings import openvino_gather  # noqa: F401, I001
from tests.backends.findings import openvino, openvino_movement, openvino_shapes  # noqa: F401
from tests.backends.findings import onnxruntime, torch, jax, array_api  # noqa: F401
from tests.backends.findings.finding import (
    ANYTHING_ELSE,
    FINDINGS,
    HELPERS,
    Finding,
    run_program,
    table,
)

__all__ = ["ANYTHING_ELSE", "FINDINGS", "HELPERS", "Finding", "run_program", "table"]
