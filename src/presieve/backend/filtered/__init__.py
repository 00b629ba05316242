"""Trusted. Operators below which filters go without any Python function: windows, limits, joins."""
