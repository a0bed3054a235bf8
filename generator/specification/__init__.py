"""What an operator is: YAML -> model, every mistake with its place; what specs can say."""
