"""Trusted. Load and lift the functions of a boundary, and combine them into a problem."""
