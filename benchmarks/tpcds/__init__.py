"""Untrusted. TPC-DS on Spark: the 99 queries, as they are and as presieve optimizes them."""
