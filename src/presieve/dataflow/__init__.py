# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about Python functions that need not be lifted."""
