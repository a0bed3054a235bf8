"""A reference that ends its process."""

import sys
from typing import Any


def take(**_: Any) -> Any:
    sys.exit(0)
