"""Untrusted. The search for a strong pre-filter, its invariant and the weakest residual."""
