"""Trusted. The forms in which a fold is written, each from an object to a fold."""
