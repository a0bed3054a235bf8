"""Spec -> cases and vectors: drawn calls, mutations, golden outputs."""
