"""Untrusted. Filters that scans are not handed: written, optimized, and with a range by hand."""
