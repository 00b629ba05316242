"""Trusted. What Python's objects say: source, names, constants, and what workers import again."""
