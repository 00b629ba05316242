(** The problem: which pairs of a pre-filter and a residual may replace a filter. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Folds.

(** ** Filters on outputs *)

Section Filters.
  Context {Out Live : Type}.

  (** A filter keeps an output; [None], the group that does not exist, fails every filter. *)
  Definition passes (phi : Out -> bool) (x : option Out) : bool :=
    match x with
    | Some o => phi o
    | None => false
    end.

  (** What is read of an output that passes: its live columns. *)
  Definition accept (live : Out -> Live) (phi : Out -> bool) (x : option Out) : option Live :=
    if passes phi x then option_map live x else None.

  Lemma accept_true_iff live phi psi o :
    accept live phi (Some o) = accept live psi (Some o) <-> phi o = psi o.
  Proof.
    unfold accept; cbn.
    destruct (phi o), (psi o); split; intros E; congruence.
  Qed.
End Filters.

(** ** Problems *)

(** A function on tables, the filter on its output, what is read of the output, and the tables that
    can occur. Nothing is said of how the function works: it may be a fold or any other. *)
Record problem (Row Out Live : Type) := Problem {
  apply : list Row -> option Out;
  where_ : Out -> bool;
  live : Out -> Live;
  lawful : list Row -> Prop
}.
Arguments Problem {Row Out Live}.
Arguments apply {Row Out Live}.
Arguments where_ {Row Out Live}.
Arguments live {Row Out Live}.
Arguments lawful {Row Out Live}.

Section Problems.
  Context {Row Out Live : Type}.
  Variable p : problem Row Out Live.

  (** What the pipeline gives for a table, under its filter or another one. *)
  Definition filtered (psi : Out -> bool) (X : list Row) : option Live :=
    accept (live p) psi (apply p X).

  (** What the original pipeline gives: [v(X)]. *)
  Definition value (X : list Row) : option Live := filtered (where_ p) X.

  (** The pre-filter [P] below and the residual [psi] above may replace the filter. *)
  Definition solution (P : Row -> bool) (psi : Out -> bool) : Prop :=
    forall X, lawful p X -> value X = filtered psi (filter P X).

  (** The pre-filter [P] may be put below, the filter staying where it is. *)
  Definition valid (P : Row -> bool) : Prop := solution P (where_ p).
End Problems.

(** ** Folds as problems *)

Section FoldProblems.
  Context {Row State Out Live : Type}.

  (** A fold whose output may be missing, over rows with [D]. *)
  Definition folding
      (g : fold Row State (option Out)) (phi : Out -> bool) (live : Out -> Live) (D : Row -> Prop)
      : problem Row Out Live :=
    Problem (fun X => out g (run g X)) phi live (Forall D).

  (** A fold with GROUP BY or without, over rows with [D]. *)
  Definition aggregating
      (m : mode) (f : fold Row State Out) (phi : Out -> bool) (live : Out -> Live) (D : Row -> Prop)
      : problem Row Out Live :=
    Problem (result m f) phi live (Forall D).

End FoldProblems.

Section Solutions.
  Context {Row State Out Live : Type}.
  Variables
    (f : fold Row State Out) (phi : Out -> bool) (live : Out -> Live) (D : Row -> Prop)
    (P : Row -> bool) (psi : Out -> bool).

  (** Solutions of an aggregation are those of the lifted fold. *)
  Lemma lifted_solution m :
    solution (folding (lifted m f) phi live D) P psi
    <-> solution (aggregating m f phi live D) P psi.
  Proof.
    unfold solution, value, filtered, folding, aggregating; cbn [apply where_ Problems.live lawful].
    split; intros S X all; specialize (S X all); now rewrite !lifted_result in *.
  Qed.

  (** Without GROUP BY the fold needs no lifting. *)
  Lemma total_solution :
    solution (folding (total f) phi live D) P psi
    <-> solution (aggregating Global f phi live D) P psi.
  Proof. reflexivity. Qed.
End Solutions.
