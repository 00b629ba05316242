# SPDX-License-Identifier: Apache-2.0
"""Trusted. Numbers, texts, containers and functions of Python itself."""
