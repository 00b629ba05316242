# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Reports on DataFrames, for people and programs."""
