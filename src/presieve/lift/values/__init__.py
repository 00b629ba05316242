"""Trusted. What a variable may hold while a function is executed symbolically."""
