"""What laws name: arguments of the calls that they make, functions, each other's outputs."""

from collections.abc import Mapping

from opcert.arrays import LAW_FUNCTIONS, TENSOR_BUILDERS
from opcert.specification.expressions import EXPRESSION_FUNCTIONS
from opcert.specification.model import LawCall, Spec
from opcert.specification.naming import (
    Found,
    Known,
    call_names,
    expression_mistakes,
    unknown_name,
)
from opcert.yaml_files import KEY_STEP, YamlPath


def law_mistakes(spec: Spec) -> Found:
    """Yield each mistake in the laws, with the path to it."""
    for i, law in enumerate(spec.laws):
        path = ("laws", i)
        known = call_names(spec)
        yield from expression_mistakes((*path, "when"), law.when, known, EXPRESSION_FUNCTIONS)
        known = {**known, "outputs": ()}
        for name, call in law.calls.items():
            here = (*path, "calls", name)
            if name in known:
                text = f"'{name}' already means something else in expressions; expected another"
                yield (*here, KEY_STEP), text
            yield from _further_call(spec, here, call, known)
            known = {**known, name: ()}
        yield from expression_mistakes(
            (*path, "holds"), law.holds, known, {**EXPRESSION_FUNCTIONS, **LAW_FUNCTIONS}
        )


def _further_call(spec: Spec, path: YamlPath, call: LawCall, known: Known) -> Found:
    functions = {**EXPRESSION_FUNCTIONS, **TENSOR_BUILDERS, **LAW_FUNCTIONS}
    for part, described in (("inputs", spec.inputs), ("attributes", spec.attributes)):
        given: Mapping[str, str] = getattr(call, part)
        for name, text in given.items():
            here = (*path, part, name)
            if call.operator in (None, spec.operator):
                names = [each.name for each in described]
                yield from unknown_name((*here, KEY_STEP), part.removesuffix("s"), name, names)
            yield from expression_mistakes(here, text, known, functions)
