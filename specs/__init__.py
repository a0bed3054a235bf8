"""The operator specs that come with opcert: one YAML file per operator, by family."""
