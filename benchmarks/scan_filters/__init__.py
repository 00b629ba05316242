"""Untrusted. Filters that Spark does not hand to scans: written, optimized, and with a range by hand."""
