"""Element types, memory layouts, data patterns, calls, and packs of arrays."""
