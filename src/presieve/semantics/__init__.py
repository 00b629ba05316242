"""Trusted. The meaning of terms: values, operators, and the reference interpreter."""
