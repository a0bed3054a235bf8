"""Combinations of levels: constraints, choices and covering arrays. It knows no spec."""
