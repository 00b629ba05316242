"""Untrusted. The synthesis benchmark: our search on the published suite."""
