# SPDX-License-Identifier: Apache-2.0
"""Trusted. The values that a variable may hold while a function is executed symbolically."""
