"""Combinations of levels: constraints, covering arrays, diagnosis of failures. It knows no spec."""
