# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Candidates: regions of rows for the pre-filter, leaves for the invariant."""
