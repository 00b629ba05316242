"""Untrusted. Whether the order of rows matters."""
