"""Renders HTML templates of reports."""

import json
import re
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from opcert.errors import visible_text
from opcert.template_environment import template_environment

_JSON_ESCAPE = re.compile(r"\\(?:u....|.)")


def render_template(template: str, **names: Any) -> bytes:
    """Return a rendered HTML template, in which all values are escaped."""
    return _environment().get_template(template).render(**names).encode()


@cache
def _environment() -> Environment:
    environment = template_environment()
    environment.filters["capitalize_first"] = _capitalize_first
    # The data of a report is large.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.policies["json.dumps_function"] = _visible_json
    environment.finalize = _visible
    return environment


def _visible(value: object) -> str:
    """Return a value as text of a page; exceptions and suites may have any characters."""
    if isinstance(value, Markup):
        return Markup(visible_text(value))  # noqa: S704 -- it is safe as before
    return visible_text(str(value))


def _visible_json(value: object, **how: Any) -> str:
    """Return JSON whose texts have escapes for hidden characters, as the rest of a page has."""
    text = visible_text(json.dumps(value, **how), before="\\")
    return _JSON_ESCAPE.sub(_visible_escape, text)


def _visible_escape(match: re.Match[str]) -> str:
    """Return an escape of JSON, or what a page shows instead of its control character."""
    character = json.loads(f'"{match[0]}"')
    return match[0] if character in '"\\/\n\t' else json.dumps(visible_text(character))[1:-1]


def _capitalize_first(text: str) -> str:
    """Return a sentence with a capital letter; `capitalize` of Jinja lowers all others."""
    return text[:1].upper() + text[1:]
