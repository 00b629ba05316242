# SPDX-License-Identifier: Apache-2.0
"""Trusted. Guarded plans: apply a pre-filter only to groups that satisfy the assumptions of its
proof.

Let A be the assumptions of a proof about rows, P its pre-filter, and φ the filter above. The input
is split by classes of groups. From a class without a row that breaks A, the rows that P keeps are
taken; from any other class, all rows. Then φ alone decides. This is right whatever the data hold: a
group of the first kind satisfies A, and a pre-filter that is right with some residual is right with
φ itself; a group of the second kind has all its rows (``proofs/Guarded.v``). A class is a hash of
the grouping columns, so there are few classes. A group without a bad row that shares its class with
a group that has one keeps all its rows, which is right, too.

For a scalar function each row is a group of its own, and its class is that row: P or not A.

The input is read more than once, and must give the same rows each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from presieve.backend.catalyst.boundary import LOGICAL, PYTHON_UDF, Boundary
from presieve.backend.catalyst.operators import ALWAYS_PASSED, GENERATE, JOIN, UNION
from presieve.backend.catalyst.trees import Node, walk
from presieve.backend.effects.may_raise import trees
from presieve.backend.gateway import Handle, PlanReader
from presieve.errors import DeclineSignal
from presieve.semantics.types import is_key_type
from presieve.sql.quoted_names import quote

CLASSES = 65_536
"""Maximum number of classes: a set of their numbers is small enough to be sent to every worker."""

ADAPTIVE = "spark.sql.adaptive.enabled"

_ROWWISE = ALWAYS_PASSED | {JOIN, UNION, GENERATE}
"""Operators that give the same rows for the same rows. Aggregates (a sum of doubles depends on the
order), windows and limits (ties), samples, and calls of Python do not.
"""


def class_of(columns: Sequence[str]) -> str:
    """Return SQL for the number of a row's class, never NULL and the same for equal keys."""
    if not columns:
        return "0"
    return f"CAST(pmod(xxhash64({', '.join(map(quote, columns))}), {CLASSES}) AS INT)"


def classes(
    gateway: PlanReader, boundary: Boundary, input_: Node, plan: Handle
) -> tuple[str, ...] | None:
    """Return the grouping columns by which the input of a boundary may be split. Without any, the
    whole input is one class. None for a projection, where each row is a class. ``plan`` is the
    root. Raises :class:`DeclineSignal` if the input cannot be read twice.
    """
    if boundary.kind == "Project":
        return None
    if boundary.beside is not None:
        raise DeclineSignal("assumption", "both inputs would have to be split in the same way")
    if gateway.conf(ADAPTIVE, "true").lower() != "true":
        reason = f"{ADAPTIVE} is false, and a guarded plan would read all rows twice"
        raise DeclineSignal("assumption", reason)
    for node in walk(input_):
        what = node.kind.removeprefix(LOGICAL) if node.children else ""
        if any(n["class"] == PYTHON_UDF for tree in trees(node) for n in tree):
            what = "a Python function"
        if what and (node.kind not in _ROWWISE or what == "a Python function"):
            reason = f"{what} below the function may return other rows when it is computed again"
            raise DeclineSignal("assumption", reason)
    if not gateway.repeatable(gateway.node(plan, boundary.input_path)):
        reason = "the input of the function may return different rows when it is read again"
        raise DeclineSignal("assumption", reason)
    return tuple(_columns(boundary))


def _columns(boundary: Boundary) -> Iterator[str]:
    """Iterate over the grouping columns, if all are plain and their equal values identical."""
    inputs = {a.id: a for a in boundary.inputs}
    keys = [inputs[k] for k in boundary.keys]
    names = Counter(a.name.upper().lower() for a in boundary.inputs)
    fit = all(is_key_type(k.type) and names[k.name.upper().lower()] == 1 for k in keys)
    if fit and boundary.all_keys_plain and not boundary.single:
        yield from (k.name for k in keys)
