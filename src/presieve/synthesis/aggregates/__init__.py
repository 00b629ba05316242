"""Untrusted. Aggregate functions of Spark that give the results of a fold."""
