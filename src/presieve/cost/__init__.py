"""Untrusted. Whether a proven pushdown pays. A wrong answer costs time, never a result."""
