"""Untrusted. What was done to a DataFrame, told to people and programs."""
