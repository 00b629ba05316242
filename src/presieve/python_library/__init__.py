# SPDX-License-Identifier: Apache-2.0
"""Trusted. What is known of pandas, NumPy and Python's own library, apart from any analysis."""
