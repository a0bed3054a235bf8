"""Spec x backend -> counterexamples: random calls beyond the suite, reduced and printed."""
