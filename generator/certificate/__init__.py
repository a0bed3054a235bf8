"""Verdicts -> certificate: whole and resumed runs, the file, the submission, the signature.

Import the module `signing` by its name: it needs an optional package.
"""
