# SPDX-License-Identifier: Apache-2.0
"""Trusted. Models of the supported functions and methods, as terms and fields."""
