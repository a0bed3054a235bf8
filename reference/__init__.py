"""The meaning of each operator in plain NumPy: one function each, which enforces every rule.

Each function takes its operator's inputs as arrays under their documented names and its
attributes as keywords, and returns a list of fresh arrays that share no memory with the inputs.
"""

from opcert.reference.rules import RuleBroken, require, unchecked

__all__ = ["RuleBroken", "require", "unchecked"]
