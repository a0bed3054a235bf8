"""Calls as Python programs, for reports, `explain` and `explore`."""
