"""Untrusted. Functions of groups over a table of 60 columns, of which each reads a few."""
