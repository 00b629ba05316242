"""Untrusted. Pre-filters as predicates of Spark."""
