# SPDX-License-Identifier: Apache-2.0
"""Trusted. The symbolic execution of Python: its state, statements, expressions, calls, loops."""
