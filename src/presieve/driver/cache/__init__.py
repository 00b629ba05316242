# SPDX-License-Identifier: Apache-2.0
"""Trusted. Solutions of problems that this process or another one has solved before."""
