"""Trusted. The values that a variable may hold while a function is executed symbolically."""
