"""Trusted. What holds of a Python function that need not be lifted."""
