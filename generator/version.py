"""The version of opcert that is installed."""

from importlib.metadata import version

__version__ = version("opcert")
