"""Trusted. Catalyst's plans: trees, operators, boundaries, attributes."""
