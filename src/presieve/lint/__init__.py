# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Reads the source of jobs without running it, and finds what Spark calls in Python."""
