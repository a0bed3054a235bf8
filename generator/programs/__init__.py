"""Calls -> a Python program that makes them: for reports, `explain` and `explore`."""
