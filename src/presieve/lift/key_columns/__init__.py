"""Trusted. Result columns that hold their group's key, of functions that do not lift."""
