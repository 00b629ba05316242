# SPDX-License-Identifier: Apache-2.0
"""Trusted. Tables, columns and masks of pandas and NumPy."""
