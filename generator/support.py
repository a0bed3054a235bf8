"""What a backend declares: which cases it says beforehand that it does not support."""

from collections.abc import Mapping
from typing import Any

from opcert.generator.errors import BackendError, did_you_mean
from opcert.generator.suite_format import IndexedCase

KEYS = ("how", "types", "index_types", "ranks", "excluded")


def declared_out(support: Any, operator: str, case: IndexedCase) -> str | None:
    """Return why `support` leaves `case` out, or None where it does not.

    `support` maps an operator to a mapping: `how` it is made (native, composed), and, where it is
    not everything, `types`, `index_types`, `ranks` and `excluded`, a list of `factor=level`.

    Raises:
        BackendError: it is not of that form.
    """
    if support is None:
        return None
    declared = _declared(support, operator)
    if declared is None:
        return f"declared: {operator} is not supported"
    levels = {f"{factor}={level}" for factor, level in case.levels.items()}
    left_out = {
        "types": {case.type} - set(declared.get("types", [case.type])),
        "index_types": case.index_types - set(declared.get("index_types", case.index_types)),
        "ranks": {case.rank} - set(declared.get("ranks", [case.rank])),
        "excluded": levels & set(declared.get("excluded", [])),
    }
    return next(
        (
            f"declared: {key} leaves out {min(map(str, out))}"
            for key, out in left_out.items()
            if out
        ),
        None,
    )


def _declared(support: Any, operator: str) -> Mapping[str, Any] | None:
    if not isinstance(support, Mapping):
        raise BackendError(f"support is {type(support).__name__}; expected a mapping by operator")
    declared = support.get(operator)
    if declared is None:
        return None
    if not isinstance(declared, Mapping):
        raise BackendError(f"support of {operator} is {declared!r}; expected a mapping")
    for key in declared:
        if key not in KEYS:
            near = did_you_mean(str(key), list(KEYS))
            raise BackendError(f"support of {operator} has '{key}'{near}")
    return declared
