"""Trusted. What terms mean: values, operators, and the reference interpreter."""
