"""YAML files with positions: read, validated, each mistake with its line and column."""

from opcert.yaml_files.source import KEY_STEP, YamlPath, YamlSource
from opcert.yaml_files.validation import describe_first_error, model_mistakes, validated_content

__all__ = [
    "KEY_STEP",
    "YamlPath",
    "YamlSource",
    "describe_first_error",
    "model_mistakes",
    "validated_content",
]
