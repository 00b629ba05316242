# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Problems of other forms: single rows, counts, computed columns, by hand."""
