# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A plan before and after, side by side: parsed, aligned, and told in boxes."""
