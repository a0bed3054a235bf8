"""YAML files, read and validated with the line and column of every part."""
