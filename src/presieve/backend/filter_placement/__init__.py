"""Trusted. Operators that filters pass without any Python function: windows, limits and joins."""
