"""Trusted. Facts about Python functions that need not be lifted."""
