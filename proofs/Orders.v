(** The order of rows inside a group is not Spark's to promise, before or after rewriting. *)

From Coq Require Import List Bool Permutation.
Import ListNotations.
From Presieve Require Import Tables Problems.

Section Orders.
  Context {Row : Type}.

  (** Every order of the kept rows comes from an order of all rows. *)
  Lemma order_lifts (P : Row -> bool) (X Y : list Row) :
    Permutation (filter P X) Y -> exists X', Permutation X X' /\ filter P X' = Y.
  Proof.
    intros order. exists (Y ++ filter (fun r => negb (P r)) X). split.
    - rewrite (partition_permutation P X) at 1. now apply Permutation_app_tail.
    - rewrite filter_app, filter_others, app_nil_r. apply filter_all.
      apply (Permutation_Forall order). apply Forall_filter.
  Qed.

  Context {Out Live : Type}.
  Variable p : problem Row Out Live.

  (** Something the pipeline may give for rows whose order is not known. *)
  Definition possible (psi : Out -> bool) (X : list Row) (v : option Live) : Prop :=
    exists X', Permutation X X' /\ filtered p psi X' = v.

  (** The rewritten pipeline may give exactly what the original may give. *)
  Theorem solution_in_any_order (P : Row -> bool) (psi : Out -> bool) :
    (forall X X', Permutation X X' -> lawful p X -> lawful p X') ->
    solution p P psi -> forall X v, lawful p X ->
    (possible (where_ p) X v <-> possible psi (filter P X) v).
  Proof.
    intros perm S X v all. split.
    - intros (X' & order & <-). exists (filter P X'). split; [now apply filter_permutation|].
      symmetry. apply S. now apply (perm X).
    - intros (Y & order & <-). destruct (order_lifts P X Y order) as (X' & order' & <-).
      exists X'. split; [exact order'|]. apply S. now apply (perm X).
  Qed.
End Orders.
