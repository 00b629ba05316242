"""Trusted. DataFrames whose plans lie in a JVM next to us."""
