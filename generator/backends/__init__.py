"""Backends: the contract, the lookup by name, and an adapter for each runtime."""
