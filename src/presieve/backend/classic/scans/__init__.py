"""Untrusted. Filters that scans of a classic session are handed, and what the scans read."""
