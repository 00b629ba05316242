# SPDX-License-Identifier: Apache-2.0
"""Trusted. Catalyst's plans: trees, operators, boundaries, attributes."""
