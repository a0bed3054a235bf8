"""Spec + suite -> the strength of the suite: the share of faults at random that its cases find."""
