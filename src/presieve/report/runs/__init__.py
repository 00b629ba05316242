"""Untrusted. What runs took, for programs and in sums."""
