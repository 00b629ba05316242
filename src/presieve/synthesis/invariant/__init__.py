# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Candidate invariants, and the solver that keeps the inductive ones."""
