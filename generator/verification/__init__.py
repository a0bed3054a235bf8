"""Certificate x suite -> findings: the checks of a third party, and the rerun of a sample."""
