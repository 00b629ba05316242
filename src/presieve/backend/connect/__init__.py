# SPDX-License-Identifier: Apache-2.0
"""Trusted. DataFrames of Spark Connect: their plans are messages, which a server analyzes."""
