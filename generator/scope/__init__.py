"""The scope of a run: declared support, claims, feature levels and waivers."""
