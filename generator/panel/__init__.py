"""Spec + suite -> the strength of the suite: which generic wrong backends its cases find."""
