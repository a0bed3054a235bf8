"""Print the JSON Schema of specs, or of certificates."""

import json
from typing import Annotated

import typer

from opcert.certificate.file import certificate_json_schema
from opcert.specification.model import json_schema


def schema(
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Print the schema of certificate.json instead.")
    ] = False,
) -> None:
    typer.echo(json.dumps(certificate_json_schema() if certificate else json_schema(), indent=1))
