"""Spec and suite -> what people read: a page for each operator, an account of a case, programs."""
