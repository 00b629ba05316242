"""Several folds as one: the lemma, on random rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from presieve.ir.fold import Column, Field, Fold, Output
from presieve.ir.ops import app
from presieve.ir.sorts import INT, Option
from presieve.ir.terms import FALSE, Op, Scope, Term, Var, int_lit
from presieve.plan.product import Component, product
from presieve.semantics.interpret import Raised, run_fold

V = Column("v", INT, "bigint")
ROW = Var(Scope.ROW, "v", INT)
STATE = Var(Scope.ACC, "m", INT)


def fold(name: str, step: Term, raises: Term = FALSE) -> Fold:
    """Both folds call their state ``m``, so that a product has to keep them apart."""
    return Fold(
        name=name,
        columns=(V,),
        keys=(),
        fields=(Field("m", INT, int_lit(0), step),),
        outputs=(Output("out", Option(INT), "bigint", app(Op.SOME, STATE)),),
        step_raises=raises,
    )


MAXIMUM = fold("maximum", app(Op.ITE, app(Op.PY_GT, ROW, STATE), ROW, STATE))
COUNT = fold("count", app(Op.INT_ADD, STATE, int_lit(1)))
CHECKED = fold("checked", app(Op.INT_ADD, STATE, ROW), app(Op.PY_LT, STATE, int_lit(-3)))


@given(st.lists(st.integers(-3, 3), max_size=6))
def test_a_product_gives_the_outputs_side_by_side(values: list[int]) -> None:
    rows = [{"v": v} for v in values]
    parts = (Component(MAXIMUM, ("a",)), Component(COUNT, ("b",)), Component(CHECKED, ("c",)))
    whole = run_fold(product(parts, {"a", "b", "c"}), rows, {})
    each = [run_fold(p.fold, rows, {}) for p in parts]
    if any(isinstance(e, Raised) for e in each):
        assert whole == Raised()
    else:
        assert whole == tuple(x for e in each if not isinstance(e, Raised) for x in e)


def test_an_output_that_nobody_reads_goes_but_its_errors_stay() -> None:
    parts = (Component(COUNT, ("b",)), Component(CHECKED, ("c",)))
    whole = product(parts, {"b"})
    assert [o.name for o in whole.outputs] == ["b"]
    assert run_fold(whole, [{"v": -4}, {"v": 0}], {}) == Raised()


def test_one_fold_keeps_the_names_of_its_state() -> None:
    assert product((Component(COUNT, ("out",)),), {"out"}) == COUNT
