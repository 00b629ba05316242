# SPDX-License-Identifier: Apache-2.0
"""Trusted. Code that treats rows by themselves, and types that depend on other rows."""
