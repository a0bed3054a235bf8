"""Certificate x suite -> flaws: all that a third party can check, and a sample run again."""
