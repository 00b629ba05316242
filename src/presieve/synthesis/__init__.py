"""Untrusted. The search for a strong pre-filter, its invariant and a weak residual."""
