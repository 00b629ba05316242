"""Untrusted. The published algorithms, for comparison: "Optimal Predicate Pushdown Synthesis"
(PLDI 2026), algorithms 1 to 7, over our IR. Nothing but the benchmark uses them.
"""
