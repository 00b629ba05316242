# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Classic sessions: what runs, how Spark shows it, and what it counts."""
