"""A backend in a process of its own: workers, drivers, the protocol, and what ends them."""
