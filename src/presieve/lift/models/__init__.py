"""Trusted. What the functions and methods that are known mean, as terms and fields."""
