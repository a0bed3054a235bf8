"""The reference: one plain NumPy function per operator, which enforces every rule.

A function takes inputs, as arrays, and attributes under their documented names. It returns a list
of new arrays, which share no memory with the inputs.
"""

from opcert.reference.rules import RuleBroken, require, unchecked

__all__ = ["RuleBroken", "require", "unchecked"]
