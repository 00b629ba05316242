"""Untrusted. What was done to a DataFrame, for people and programs."""
