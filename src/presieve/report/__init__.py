"""Untrusted. Reports on DataFrames, for people and programs."""
