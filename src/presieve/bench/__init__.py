"""Untrusted. Benchmarks: what is measured, how, and the ledger it is written to."""
