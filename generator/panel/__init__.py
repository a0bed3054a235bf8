"""Spec + suite -> the strength of the suite: which generic wrong backends its cases find."""

from opcert.panel.strength import Strength, strength_of

__all__ = ["Strength", "strength_of"]
