"""Untrusted. Reads the source of jobs without running it, and finds what Spark calls in Python."""
