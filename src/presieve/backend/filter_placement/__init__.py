# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators that filters pass without any Python function: windows, limits and joins."""
