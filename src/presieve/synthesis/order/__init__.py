"""Untrusted. Decides whether the order of rows matters."""
