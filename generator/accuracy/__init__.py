"""Arithmetics, and the results that they allow; knows no spec and no suite."""
