# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Whether a proven pushdown pays off. A wrong answer costs time, never a result."""
