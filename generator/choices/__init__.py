"""Named decisions while something is drawn, and what answers them."""
