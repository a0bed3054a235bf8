"""What laws name: arguments of the calls that they make, functions, each other's outputs."""

from collections.abc import Mapping

from opcert.arrays.calls import BUILDERS
from opcert.specification.expressions import FUNCTIONS
from opcert.specification.law_functions import ARRAYS
from opcert.specification.model import FurtherCall, Spec
from opcert.specification.naming import (
    Found,
    Known,
    call_names,
    expression_mistakes,
    unknown_name,
)
from opcert.yaml_files.source import KEY, SpecPath


def law_mistakes(spec: Spec) -> Found:
    """Yield each mistake in the laws, with the path to it."""
    for i, law in enumerate(spec.laws):
        path = ("laws", i)
        known = call_names(spec)
        yield from expression_mistakes((*path, "when"), law.when, known, FUNCTIONS)
        known = {**known, "outputs": ()}
        for name, call in law.calls.items():
            here = (*path, "calls", name)
            if name in known:
                text = f"'{name}' already means something else in expressions; expected another"
                yield (*here, KEY), text
            yield from _further_call(spec, here, call, known)
            known = {**known, name: ()}
        yield from expression_mistakes((*path, "holds"), law.holds, known, {**FUNCTIONS, **ARRAYS})


def _further_call(spec: Spec, path: SpecPath, call: FurtherCall, known: Known) -> Found:
    functions = {**FUNCTIONS, **BUILDERS, **ARRAYS}
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        given: Mapping[str, str] = getattr(call, part)
        for name, text in given.items():
            here = (*path, part, name)
            if call.operator in (None, spec.operator):
                names = [each.name for each in described]
                yield from unknown_name((*here, KEY), part.removesuffix("s"), name, names)
            yield from expression_mistakes(here, text, known, functions)
