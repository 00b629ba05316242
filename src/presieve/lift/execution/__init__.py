"""Trusted. The symbolic execution of Python: its state, statements, expressions, calls, loops."""
