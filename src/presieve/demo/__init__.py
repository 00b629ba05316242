# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The main job: three pipelines with stateful Python UDFs, as written and optimized."""
