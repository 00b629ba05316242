# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays, tables and compute functions of pyarrow."""
