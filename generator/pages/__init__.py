"""Specs, suite and guides -> documentation: the site of `opcert docs`, descriptions of cases."""
