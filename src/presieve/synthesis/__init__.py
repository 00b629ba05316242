# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The search for a strong pre-filter, its invariant and a weak residual."""
