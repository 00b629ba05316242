"""Trusted. Connects the stages; the public functions are built on this package."""
