# SPDX-License-Identifier: Apache-2.0
"""Trusted. What a plan of a classic session reads from the cache.

Spark looks up the fragments of a plan, as they are written, in its cache
(``CacheManager.useCachedData``). A rewritten plan must find the same. A fragment that is no longer
found is computed again, perhaps from other files; one that is found only now may be out of date.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import ask_once, class_name, each, translate_errors
from presieve.backend.classic.scans.plan_leaves import CACHED
from presieve.backend.gateway import Handle


@translate_errors
@ask_once
def cached_reads(plans: JvmPlans, plan: Handle) -> Counter[int]:
    """Return which cached results Spark reads in an analyzed plan and its subqueries, by identity,
    and how often.

    A new ``QueryExecution`` answers, because one that was asked keeps its answer.
    """
    if plans.cache_is_empty():
        return Counter()
    with_cached = plans.dataset(plan).queryExecution().withCachedData()
    trees = (with_cached, *plans.subqueries(with_cached))
    leaves = (leaf for tree in trees for leaf in each(tree.collectLeaves()))
    return Counter(_identity(plans, leaf) for leaf in leaves if class_name(leaf) == CACHED)


@translate_errors
def rewrite_above_cached(
    plans: JvmPlans, plan: Handle, rewrite: Callable[[Handle], Handle]
) -> Handle:
    """Rewrite a plan and leave what Spark reads from the cache as it is written. Return the plan
    itself if the rewritten plan would read anything else from the cache.
    """
    reads = Counter(cached_reads(plans, plan))
    if not reads:
        rewritten = rewrite(plan)
        return plan if cached_reads(plans, rewritten) else rewritten
    fragments: dict[tuple[int, ...], Handle] = {}

    def leaf_of(node: Handle) -> Handle | None:
        entry = plans.adapter.look_up_cache(plans.cache_manager, plans.jsession, node)
        if not entry.isDefined():
            return None
        leaf = entry.get().cachedRepresentation().withOutput(node.output())
        fragments[_columns(leaf)] = node
        reads[_identity(plans, leaf)] -= 1
        return leaf

    def fragment_of(node: Handle) -> Handle | None:
        if class_name(node) != CACHED:
            return None
        reads[_identity(plans, node)] += 1
        return fragments[_columns(node)]

    above = plans.replace_operators(plan, leaf_of)
    rewritten = rewrite(above)
    if rewritten is above:
        return plan
    rewritten = plans.replace_operators(rewritten, fragment_of)
    return rewritten if cached_reads(plans, rewritten) == +reads else plan


def _identity(plans: JvmPlans, leaf: Handle) -> int:
    """Return a number of the cached rows that a leaf reads."""
    return plans.identity(leaf.cacheBuilder())


def _columns(leaf: Handle) -> tuple[int, ...]:
    return tuple(int(column.exprId().id()) for column in each(leaf.output()))
