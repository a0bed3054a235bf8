"""Certificate -> what people read of it: terminal, HTML, JUnit XML, side by side."""
