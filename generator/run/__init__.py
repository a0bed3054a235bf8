"""Call x backend -> outcome: makes the calls of a case and compares outputs with golden ones."""
