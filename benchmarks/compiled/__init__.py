"""Untrusted. Functions in pipelines without a filter: in Python, compiled, and typed by hand."""
