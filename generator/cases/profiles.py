"""How large the suite of a profile is."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Profile:
    """How many cases of an operator a suite has, and how long changes are sought.

    Attributes:
        calls: The number of drawn calls; of an operator that computes, a tenth, and at least 100.
        stored: The pack has the arrays of so many cases, the first ones, by default of all. Of
            the others, the index has recipes and digests.
        large: Whether these are large; so few of them need not reach every rule.
        neighbours: The most neighbours in a respect.
        per_stratum: The most cases of a stratum: the calls that violate a requirement by one kind
            of mutation of one argument.
        per_requirement: Once a requirement has so many cases, no stratum gets a second one.
        per_ambiguity: The most cases of an ambiguity; they are never decisive.
        applications: To how many baselines a mutation is applied.
        candidates: A mutation that has yielded so many candidates is not applied any more.
    """

    calls: int
    stored: int | None = None
    large: bool = False
    neighbours: int = 1
    per_stratum: int = 4
    per_requirement: int = 36
    per_ambiguity: int = 6
    applications: int = 16
    candidates: int = 6


_CORE = Profile(
    calls=5_000,
    stored=400,
    neighbours=3,
    per_stratum=12,
    per_requirement=108,
    applications=48,
    candidates=18,
)
# The calls of `smoke` are the first of `core`, and those the first of `full`.
PROFILES = {
    "smoke": Profile(calls=500),
    "core": _CORE,
    "full": replace(
        _CORE,
        calls=20_000,
        neighbours=4,
        per_stratum=24,
        per_requirement=256,
        per_ambiguity=32,
        applications=96,
        candidates=36,
    ),
    "stress": Profile(
        calls=60,
        large=True,
        per_stratum=2,
        per_requirement=16,
        per_ambiguity=4,
        applications=12,
        candidates=4,
    ),
}
