"""Untrusted. The suite end to end: as written, as optimized, and with filters typed by hand."""
