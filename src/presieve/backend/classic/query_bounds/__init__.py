# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filters on files by bounds that the query itself computes, in scalar subqueries.

Spark evaluates scalar subqueries before it reads files, and hands their values to scans
(``FileSourceScanLike.pushedDownFilters``). What a footer says only chooses what is worth asking, so
such a filter stays right whatever becomes of the files.
"""
