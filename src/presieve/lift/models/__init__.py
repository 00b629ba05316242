"""Trusted. Models of the supported functions and methods, as terms and fields."""
