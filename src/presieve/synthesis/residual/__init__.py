"""Untrusted. What must stay of the filter above."""
