# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sessions: settings, hooks, dry runs, and the validity of decisions."""
