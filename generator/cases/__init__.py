"""Spec -> cases and vectors: calls that cover the input space, mutations, golden outputs."""
