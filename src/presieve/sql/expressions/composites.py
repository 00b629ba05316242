# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arrays and structs, and functions that make rows of them."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

ARRAY_CONTAINS = always("ArrayContains", 2)
CREATE_ARRAY = always("CreateArray")
CREATE_NAMED_STRUCT = always("CreateNamedStruct")
GET_STRUCT_FIELD = always("GetStructField", 1)
ARRAY_SIZE = always("ArraySize", 1, sql="array_size", result="int")
GET = always("Get", 2, sql="get")
ARRAY_POSITION = always("ArrayPosition", 2, sql="array_position", result="bigint")
MAP_KEYS = always("MapKeys", 1, sql="map_keys")
TRY_ELEMENT_AT = always("TryElementAt", 1, sql="try_element_at")
ELEMENT_AT = Entry("ElementAt", 2)
EXPLODE = always("Explode", 1)
POS_EXPLODE = always("PosExplode", 1)
INLINE = Entry("Inline", 1)
STACK = always("Stack")
