# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tables that show something: that rows matter, or that a candidate is wrong."""
