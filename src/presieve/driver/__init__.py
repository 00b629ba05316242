# SPDX-License-Identifier: Apache-2.0
"""Trusted. Connects the stages; the public functions are built on this package."""
