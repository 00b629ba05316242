"""Untrusted. Whether a proven pushdown pays off. A wrong answer costs time, never a result."""
