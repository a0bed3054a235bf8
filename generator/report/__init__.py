"""Certificate -> reports: on a terminal, as HTML, as JUnit XML, and side by side."""
