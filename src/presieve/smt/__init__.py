# SPDX-License-Identifier: Apache-2.0
"""Trusted. From the IR to solver terms, and the solvers behind one small protocol."""
