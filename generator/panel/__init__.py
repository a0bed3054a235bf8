"""Spec + suite -> the strength of the suite: which generic wrong backends its cases find."""

from opcert.panel.strength import Strength, measure_strength

__all__ = ["Strength", "measure_strength"]
