# SPDX-License-Identifier: Apache-2.0
"""Trusted. Load and lift the functions of a boundary, and combine them into a problem."""
