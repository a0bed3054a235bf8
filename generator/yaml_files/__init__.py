"""YAML files, read and validated with the line and column of every part."""

from opcert.yaml_files.source import KEY_STEP, YamlPath, YamlSource
from opcert.yaml_files.validation import (
    VERBATIM,
    describe_first_error,
    model_mistakes,
    validated_content,
)

__all__ = [
    "KEY_STEP",
    "VERBATIM",
    "YamlPath",
    "YamlSource",
    "describe_first_error",
    "model_mistakes",
    "validated_content",
]
