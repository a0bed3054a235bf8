"""A backend in a process of its own: workers, drivers, and the protocol of both."""
