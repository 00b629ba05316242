"""Trusted. Tables, columns and masks of pandas and NumPy."""
