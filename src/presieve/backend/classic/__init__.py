# SPDX-License-Identifier: Apache-2.0
"""Trusted. DataFrames whose plans are in a JVM next to us."""
