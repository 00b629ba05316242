# SPDX-License-Identifier: Apache-2.0
"""Trusted. Walking terms. Terms are shared (a DAG), so every walk remembers its visited nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.terms import App, Lit, Scope, Term, Var


def subterms(*terms: Term) -> Iterator[Term]:
    """Every distinct subterm object, arguments before the terms that use them."""
    visited: set[int] = set()
    for term in terms:
        stack: list[tuple[Term, bool]] = [(term, False)]
        while stack:
            node, expanded = stack.pop()
            if expanded:
                yield node
            elif id(node) not in visited:
                visited.add(id(node))
                if isinstance(node, App):
                    stack.append((node, True))
                    stack += [(a, False) for a in reversed(node.args)]
                else:
                    yield node


def computes(term: Term) -> bool:
    """Whether a term calls a function of values, such as the year of a day."""
    return any(isinstance(t, App) and t.op in SIGNATURES for t in subterms(term))


def variables(*terms: Term) -> tuple[Var, ...]:
    """The variables that occur, each once, in order of first occurrence."""
    return tuple(dict.fromkeys(n for n in subterms(*terms) if isinstance(n, Var)))


def literals(*terms: Term) -> tuple[Lit, ...]:
    """The literals that occur, each once, in order of first occurrence."""
    return tuple(dict.fromkeys(n for n in subterms(*terms) if isinstance(n, Lit)))


def depth(*terms: Term) -> int:
    """The greatest number of nested operators."""
    depths: dict[int, int] = {}
    for node in subterms(*terms):
        inner = [depths[id(a)] for a in node.args] if isinstance(node, App) else []
        depths[id(node)] = 1 + max(inner, default=-1)
    return max((depths[id(t)] for t in terms), default=0)


def rewrite(term: Term, leaf: Callable[[Var], Term]) -> Term:
    """Replace every variable by ``leaf(variable)``, keeping shared subterms shared."""
    return replace_nodes(term, lambda node: leaf(node) if isinstance(node, Var) else None)


def replace_nodes(term: Term, by: Callable[[Term], Term | None]) -> Term:
    """Replace nodes by the result of ``by``, unless that is None; terms before their subterms."""
    new_nodes: dict[int, Term] = {}
    for node in subterms(term):
        new = by(node)
        if new is not None:
            new_nodes[id(node)] = new
        elif isinstance(node, App):
            args = tuple(new_nodes[id(a)] for a in node.args)
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            new_nodes[id(node)] = node if same else app(node.op, *args)
        else:
            new_nodes[id(node)] = node
    return new_nodes[id(term)]


def substitute(term: Term, mapping: Mapping[Var, Term]) -> Term:
    """Replace variables by terms of the same sort."""
    return rewrite(term, lambda v: mapping.get(v, v))


def to_scope(term: Term, source: Scope, target: Scope) -> Term:
    """The same term about another run: variables of ``source`` become variables of ``target``."""
    return rewrite(term, lambda v: Var(target, v.name, v.sort) if v.scope is source else v)


def size(term: Term) -> int:
    """The number of nodes of the term as a tree (shared nodes count each time)."""
    counts: dict[int, int] = {}
    for node in subterms(term):
        counts[id(node)] = 1 + (
            sum(counts[id(a)] for a in node.args) if isinstance(node, App) else 0
        )
    return counts[id(term)]
