# SPDX-License-Identifier: Apache-2.0
"""Trusted. The meaning of terms: values, operators, and the reference interpreter."""
