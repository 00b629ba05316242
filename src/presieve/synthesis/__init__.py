"""Untrusted. The search for the strongest pre-filter, its invariant and the weakest residual."""
