# SPDX-License-Identifier: Apache-2.0
"""Trusted. Combines several folds over the rows of one group into one fold."""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from presieve.ir.fold import Field, Fold
from presieve.ir.ops import disjunction
from presieve.ir.terms import FALSE, Scope, Term, Var
from presieve.ir.walk import rewrite
from presieve.records import replace
from presieve.semantics.smart_constructors import any_value, ite


class Component(Struct, frozen=True):
    """One fold of a product, and the names of its outputs in the product."""

    fold: Fold
    outputs: tuple[str, ...]


def product(parts: tuple[Component, ...], live: Set[str]) -> Fold:
    """Put states and outputs side by side; the product raises if one of the folds raises.

    Lemma: ``fold (f x g) D = (fold f D, fold g D)``: neither state occurs in the other's step. Only
    outputs named in ``live`` stay: nothing is claimed about the others. Their states stay too,
    because a fold whose output nobody reads may still raise.
    """
    named = [_rename(p, f"u{i}." if len(parts) > 1 else "") for i, p in enumerate(parts)]
    return Fold(
        name=", ".join(dict.fromkeys(p.fold.name for p in parts)),
        columns=tuple({c.name: c for f in named for c in f.columns}.values()),
        keys=tuple({c.name: c for f in named for c in f.keys}.values()),
        fields=tuple(x for f in named for x in f.fields),
        outputs=tuple(o for f in named for o in f.outputs if o.name in live),
        step_raises=disjunction(f.step_raises for f in named),
        finish_raises=disjunction(f.finish_raises for f in named),
        span=parts[0].fold.span,
    )


def called_alone(parts: tuple[Component, ...], live: Set[str], called: Set[int]) -> Fold:
    """Build the product in which only the parts with these numbers are evaluated.

    The outputs of the others are not read, and their errors do not occur.
    """
    idle = [i for i in range(len(parts)) if i not in called]
    unread = {name for i in idle for name in parts[i].outputs}
    fold = product(
        tuple(p if i in called else quiet(p) for i, p in enumerate(parts)), live - unread
    )
    gone = tuple(f"u{i}." for i in idle)
    return replace(fold, fields=tuple(f for f in fold.fields if not f.name.startswith(gone)))


def quiet(part: Component) -> Component:
    """Remove the part's errors: where it raises, it gives some value, which nobody reads."""
    fold = part.fold
    fields = tuple(
        replace(f, step=ite(fold.step_raises, Var(Scope.ACC, f.name, f.sort), f.step))
        for f in fold.fields
    )
    outputs = tuple(
        replace(o, term=ite(fold.finish_raises, any_value(o.sort), o.term)) for o in fold.outputs
    )
    calm = replace(fold, fields=fields, outputs=outputs, step_raises=FALSE, finish_raises=FALSE)
    return replace(part, fold=calm)


def _rename(part: Component, prefix: str) -> Fold:
    fold = part.fold

    def term(t: Term) -> Term:
        return rewrite(
            t, lambda v: Var(Scope.ACC, prefix + v.name, v.sort) if v.scope is Scope.ACC else v
        )

    return replace(
        fold,
        fields=tuple(Field(prefix + f.name, f.sort, f.init, term(f.step)) for f in fold.fields),
        outputs=tuple(
            replace(o, name=name, term=term(o.term))
            for o, name in zip(fold.outputs, part.outputs, strict=True)
        ),
        step_raises=term(fold.step_raises),
        finish_raises=term(fold.finish_raises),
    )
