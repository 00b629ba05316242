# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Aggregate functions of Spark that give the results of a fold."""
