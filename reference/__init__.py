"""What each operator means, in plain NumPy: one function per operator, strict about every rule.

Each function takes its operator's inputs as arrays under their documented names and its
attributes as keywords, and returns a list of fresh arrays that share no memory with the inputs.
"""

from opcert.reference.rules import RuleBroken, require, unchecked

__all__ = ["RuleBroken", "require", "unchecked"]
