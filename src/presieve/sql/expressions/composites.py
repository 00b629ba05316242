# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays and structs, and functions that make rows of them."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, never_raising

ARRAY_CONTAINS = never_raising("ArrayContains", 2)
CREATE_ARRAY = never_raising("CreateArray")
CREATE_NAMED_STRUCT = never_raising("CreateNamedStruct")
GET_STRUCT_FIELD = never_raising("GetStructField", 1)
GET_MAP_VALUE = never_raising("GetMapValue", 2)
ARRAY_SIZE = never_raising("ArraySize", 1, sql="array_size", result="int")
GET = never_raising("Get", 2, sql="get")
ARRAY_POSITION = never_raising("ArrayPosition", 2, sql="array_position", result="bigint")
MAP_KEYS = never_raising("MapKeys", 1, sql="map_keys")
TRY_ELEMENT_AT = never_raising("TryElementAt", 1, sql="try_element_at")
ELEMENT_AT = Entry("ElementAt", 2)
EXPLODE = never_raising("Explode", 1)
POS_EXPLODE = never_raising("PosExplode", 1)
INLINE = Entry("Inline", 1)
STACK = never_raising("Stack")
