"""Untrusted. Tables that show something: that rows matter, that a candidate is wrong."""
