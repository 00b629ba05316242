"""Untrusted. Classic sessions: what runs, how Spark shows it, and what it counts."""
