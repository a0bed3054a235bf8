"""Failing cases -> the combinations of levels that explain them."""
