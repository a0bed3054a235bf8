"""Spec and suite -> what people read: a page for each operator, an account of a case, programs."""

from opcert.pages.case_descriptions import describe_case
from opcert.pages.explain import explain_case, find_case
from opcert.pages.site import page_name, render_pages, render_template, write_pages

__all__ = [
    "describe_case",
    "explain_case",
    "find_case",
    "page_name",
    "render_pages",
    "render_template",
    "write_pages",
]
