# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Baselines: what presieve did for a job, kept in a file, and what became of it."""
