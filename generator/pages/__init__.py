"""Specs, suite and guides -> documentation: the site of `opcert docs`, descriptions of cases."""

from typing import TYPE_CHECKING

from opcert.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from opcert.pages.addresses import page_name
    from opcert.pages.case_descriptions import describe_case
    from opcert.pages.explain import explain_case, find_case
    from opcert.pages.rendering import render_pages, render_template
    from opcert.pages.site import check_site_folder, render_site, write_site

__all__ = [
    "check_site_folder",
    "describe_case",
    "explain_case",
    "find_case",
    "page_name",
    "render_pages",
    "render_site",
    "render_template",
    "write_site",
]

# A report needs no Markdown and no highlighting.
__getattr__ = lazy_attributes(
    __name__,
    {
        "addresses": ("page_name",),
        "case_descriptions": ("describe_case",),
        "explain": ("explain_case", "find_case"),
        "rendering": ("render_pages", "render_template"),
        "site": ("check_site_folder", "render_site", "write_site"),
    },
)
