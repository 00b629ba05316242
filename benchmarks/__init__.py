"""Untrusted. Benchmarks of the search and of pipelines on Spark. They are not in the wheel; from
a source tree ``presieve bench`` runs them.
"""
