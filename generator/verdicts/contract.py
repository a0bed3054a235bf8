"""What opcert asks of a backend beside the operator's document, by the kind of failure."""

from collections.abc import Mapping

from opcert.run import FailureKind

# A failure of one of these kinds breaks opcert's contract. It is no failure of a document's rule.
BACKEND_CONTRACT: Mapping[FailureKind, str] = {
    "type": "A backend returns a list or tuple of NumPy arrays.",
    "mutated-input": "A backend leaves its inputs, and the memory between their elements, as they "
    "are.",
    "aliased-output": "An output shares no memory with an input or another output, and keeps its "
    "value after it is returned.",
    "unstable": "The same call gives the same result each time.",
    "state": "The result of a call does not depend on earlier calls.",
    "undeclared": "A backend declares beforehand what it does not support, unless that is a whole "
    "data type of an operator.",
    "protocol": "A worker or driver answers each call as the protocol says.",
}
# These breaches are failures whatever the document says of the call: no reading of a document
# asks for them. What an open call gives, and whether it gives the same again, stays open.
DECISIVE_BREACHES: frozenset[FailureKind] = frozenset(
    {"type", "mutated-input", "aliased-output", "protocol"}
)


def cite_contract(kind: FailureKind | None, detail: str) -> str:
    """Return the detail of a failure with the sentence of the contract that it violates, if any."""
    first, newline, rest = detail.partition("\n")
    if kind is None or kind not in BACKEND_CONTRACT:
        return detail
    return f"{first}\n    contract: {BACKEND_CONTRACT[kind]}{newline}{rest}"
