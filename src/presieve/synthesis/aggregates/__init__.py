"""Untrusted. Aggregate functions of Spark's that give what a fold gives."""
