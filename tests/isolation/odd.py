"""Backends with invalid introductions."""


def raises(error: BaseException) -> property:
    """Return a property that cannot be read."""

    def read(_: object) -> object:
        raise error

    return property(read)


class Odd:
    name = version = "odd"

    def __init__(self, **options: str) -> None:
        pass

    def run(self, *_: object) -> None:
        raise NotImplementedError


class ReuseRaises(Odd):
    reuse = raises(RuntimeError("no reuse"))


class ReuseLeaves(Odd):
    reuse = raises(SystemExit(0))


class ReuseIsLong(Odd):
    reuse = 10**5000


class ReuseIsHalf(Odd):
    reuse = "\udc80"


class SupportLeaves(Odd):
    support = raises(SystemExit(0))


class RankIsLong(Odd):
    support = {"any/Any-1": {"how": "native", "ranks": [10**5000]}}  # noqa: RUF012 -- as users do


class HowIsHalf(Odd):
    support = {"any/Any-1": {"how": "\udc80"}}  # noqa: RUF012 -- as users do


class OperatorIsLong(Odd):
    support = {10**5000: {"how": "native"}}  # noqa: RUF012 -- as users do


class ValueIsHalf(Odd):
    configurations = {"device": ["\udc80", "b"]}  # noqa: RUF012 -- as users do


class ValueIsLong(Odd):
    configurations = {"device": [10**5000, 2]}  # noqa: RUF012 -- as users do


class _Raising(type):
    configurations = raises(RuntimeError("no list"))


class ConfigurationsRaise(Odd, metaclass=_Raising):
    pass
