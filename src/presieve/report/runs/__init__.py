# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What runs took, for programs and in sums."""
