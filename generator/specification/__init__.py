"""What an operator is: the model of a spec, its expressions, and every mistake with its place."""
