"""The Jinja environment of all templates: `.jinja` for HTML, `.j2` for Python."""

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def template_environment() -> Environment:
    """Return a new environment; values in HTML templates are escaped."""
    return Environment(
        loader=PackageLoader("opcert"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=select_autoescape(["jinja"]),
    )
