"""Trusted. From the IR to solver terms, and the solvers behind one small protocol."""
