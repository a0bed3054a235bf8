"""Certificate x suite -> findings: what does not belong together, and the rerun of a sample."""
