# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Pre-filters as predicates of Spark."""
