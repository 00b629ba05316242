"""Untrusted. TPC-H data under Python functions, with filters on what these give."""
