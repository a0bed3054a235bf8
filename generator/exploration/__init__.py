"""Spec x backend -> findings: fresh calls beyond the suite, made small and printed."""
