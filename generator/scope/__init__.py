"""What counts in a run: declared support, claims, feature levels and waivers."""
