# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Filters that scans of a classic session are handed, and what the scans read."""
