# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tables to try a candidate on."""
