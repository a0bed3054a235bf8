"""Backends: the contract, the lookup by name, and an adapter for each runtime."""

from opcert.backends.contract import (
    NAME_FORMAT,
    AdapterRejection,
    Backend,
    adapter_rejections,
    as_backend_error,
    check_backend,
    close_backend,
    declared_reuse,
    is_valid_name,
)
from opcert.backends.lookup import (
    ALL_VALUES,
    BUILT_IN_BACKENDS,
    DRIVER_PREFIX,
    ENTRY_POINT_GROUP,
    in_process_backend,
    load,
    load_code,
    option_choices,
    parse_backend_options,
    registered_backends,
    setup_code,
    with_reference_specs,
)
from opcert.backends.own_lines import own_lines
from opcert.backends.source_files import SourceFiles

__all__ = [
    "ALL_VALUES",
    "BUILT_IN_BACKENDS",
    "DRIVER_PREFIX",
    "ENTRY_POINT_GROUP",
    "NAME_FORMAT",
    "AdapterRejection",
    "Backend",
    "SourceFiles",
    "adapter_rejections",
    "as_backend_error",
    "check_backend",
    "close_backend",
    "declared_reuse",
    "in_process_backend",
    "is_valid_name",
    "load",
    "load_code",
    "option_choices",
    "own_lines",
    "parse_backend_options",
    "registered_backends",
    "setup_code",
    "with_reference_specs",
]
