"""How the arguments of a spec are read: each as the class of its role."""

import json
from difflib import get_close_matches
from typing import Annotated, Any, Union

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from opcert.roles import ROLES, role_classes
from opcert.roles.argument import Attribute, Input, SpecModel
from opcert.roles.role import Role
from opcert.yaml_files.validation import VERBATIM


def _with_role(plain: type[SpecModel]) -> BeforeValidator:
    """Return a validator that reads an argument as the class of its role, or else as `plain`."""

    def read(value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        kind = plain
        if "role" not in value:
            _require_role(value, plain)
        else:
            own = (info.context or {}).get("roles", {})
            known = {**ROLES, **own}
            if value["role"] not in known:
                # To find what is installed takes longer than to read a spec.
                known = {**role_classes(), **own}
            if value["role"] not in known:
                raise ValueError(f"a role: {', '.join(known)}")
            kind = known[value["role"]]
        return kind.model_validate_json(json.dumps(value))

    form: Any = Union[(plain, *ROLES.values())]
    return BeforeValidator(read, json_schema_input_type=form)


def _require_role(value: dict[str, Any], plain: type[SpecModel]) -> None:
    """Raise PydanticCustomError if an argument has keys of a role, but no role."""
    of_roles = {key for role in ROLES.values() for key in role.model_fields}
    for key in value.keys() - plain.model_fields.keys():
        if get_close_matches("role", [str(key)]):
            raise PydanticCustomError(
                VERBATIM, "unknown key '{key}'; expected 'role'", {"key": key}
            )
        if key in of_roles:
            text = "missing key 'role', to which the key '{key}' belongs"
            raise PydanticCustomError(VERBATIM, text, {"key": key})


InputPart = Annotated[Input | Role, _with_role(Input)]
AttributePart = Annotated[Attribute | Role, _with_role(Attribute)]
