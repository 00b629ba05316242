"""Untrusted. Filters that Spark does not hand to scans: written, optimized, with a range by hand."""
