"""Untrusted. Candidates: regions of rows for the pre-filter, leaves for the invariant."""
