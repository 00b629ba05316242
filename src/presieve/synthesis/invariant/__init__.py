"""Untrusted. Candidate invariants, and the solver that keeps the inductive ones."""
