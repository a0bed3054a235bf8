"""Vectors -> suite, and back: packs, indexes, pytest files, manifest; what a suite covers."""
