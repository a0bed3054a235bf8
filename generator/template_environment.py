"""The Jinja environment that every template is rendered in: `.jinja` gives HTML, `.j2` Python."""

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def template_environment() -> Environment:
    """Return a new environment, in which every value of an HTML template is escaped."""
    return Environment(
        loader=PackageLoader("opcert"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=select_autoescape(["jinja"]),
    )
