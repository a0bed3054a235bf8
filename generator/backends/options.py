"""Options of adapters that are one of a few words."""

from collections.abc import Mapping, Sequence

# Whether what was compiled for a call serves later ones of the same form.
CACHE: Mapping[str, Sequence[str]] = {"cache": ("on", "off")}


def check(choices: Mapping[str, Sequence[str]], **given: str) -> None:
    """Refuse what is none of the choices of its option.

    Raises:
        ValueError: says which.
    """
    for option, value in given.items():
        if value not in choices[option]:
            raise ValueError(f"{option}={value}; expected {' or '.join(choices[option])}")
