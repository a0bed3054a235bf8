"""A backend in a process of its own: workers, drivers, and the protocol of both."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.isolation.configuration import Configuration, configurations
    from opcert.isolation.driver_check import check_driver
    from opcert.isolation.supervised import CALL_TIMEOUT, SupervisedBackend, start_backend

__all__ = [
    "CALL_TIMEOUT",
    "Configuration",
    "SupervisedBackend",
    "check_driver",
    "configurations",
    "start_backend",
]

# A worker imports this package in each of its processes, and needs little of it.
__getattr__ = lazy_attributes(
    __name__,
    {
        "configuration": ("Configuration", "configurations"),
        "driver_check": ("check_driver",),
        "supervised": ("CALL_TIMEOUT", "SupervisedBackend", "start_backend"),
    },
)
