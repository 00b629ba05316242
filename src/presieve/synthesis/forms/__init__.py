"""Untrusted. Problems of other forms: single rows, counts, computed columns, by hand."""
