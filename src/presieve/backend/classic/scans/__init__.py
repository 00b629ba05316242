"""Untrusted. What scans of a classic session are handed, and what they read."""
