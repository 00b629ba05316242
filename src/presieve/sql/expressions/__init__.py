# SPDX-License-Identifier: Apache-2.0
"""Trusted. Facts about Catalyst's expressions, by class."""
