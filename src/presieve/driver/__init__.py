"""Trusted. Wires the stages together; everything public stands on it."""
