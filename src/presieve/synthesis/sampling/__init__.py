"""Untrusted. Tables to try a candidate on."""
