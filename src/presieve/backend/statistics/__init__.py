# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts, checks and estimates of data, from files, scans and metrics."""
