"""YAML files with positions: read, validated, each mistake with its line and column."""
