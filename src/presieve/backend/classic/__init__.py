"""Trusted. DataFrames whose plans are in a JVM next to us."""
