"""Untrusted. Filters that Spark keeps from scans: as written, optimized, with a range by hand."""
