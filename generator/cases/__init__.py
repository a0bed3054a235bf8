"""Spec -> cases and vectors: covering arrays, calls drawn, changed, and proved by the reference."""
