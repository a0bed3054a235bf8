"""Verdicts -> certificate: whole and resumed runs, the file, the submission, the signature."""
