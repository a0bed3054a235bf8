"""Specs, suite, guides -> documentation: Markdown of `opcert docs`, descriptions of cases."""
