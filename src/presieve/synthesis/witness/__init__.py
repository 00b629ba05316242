"""Untrusted. Tables that show something: that rows matter, or that a candidate is wrong."""
