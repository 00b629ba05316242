"""Untrusted. Filters above Spark's own operators: as written, optimized, and typed by hand."""
