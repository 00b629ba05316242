(** Soundness of the four conditions Init, Sync, Stutter and Final. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Folds Problems.

(** At the end both runs are accepted and their live outputs are the same, or both are rejected. *)
Definition alike {Out Live : Type} (live : Out -> Live) (phi psi : Out -> bool)
    (x y : option Out) : Prop :=
  (passes phi x = true /\ passes psi y = true /\ option_map live x = option_map live y)
  \/ (passes phi x = false /\ passes psi y = false).

Lemma alike_accept {Out Live : Type} (live : Out -> Live) phi psi x y :
  alike live phi psi x y <-> accept live phi x = accept live psi y.
Proof.
  unfold alike, accept. destruct x as [a|], y as [b|]; cbn;
    try destruct (phi a); try destruct (psi b); intuition congruence.
Qed.

Section Conditions.
  Context {Row State Out Live : Type}.
  Variables
    (g : fold Row State (option Out))
    (phi : Out -> bool)
    (live : Out -> Live)
    (D : Row -> Prop).

  (** The invariant [I] relates the run over all rows to the run over those with [P]. *)
  Record certifies (P : Row -> bool) (psi : Out -> bool) (I : State -> State -> Prop) : Prop := {
    Init : I (init g) (init g);
    Sync s t r : I s t -> D r -> P r = true -> I (step g s r) (step g t r);
    Stutter s t r : I s t -> D r -> P r = false -> I (step g s r) t;
    Final s t : I s t -> alike live phi psi (out g s) (out g t)
  }.

  Lemma related P psi I X :
    certifies P psi I -> Forall D X -> I (run g X) (run g (filter P X)).
  Proof.
    intros C. induction X as [|r X IH] using rev_ind; intros all; [exact (Init _ _ _ C)|].
    apply Forall_app in all as [all last]. inversion_clear last as [|? ? lawful_r _].
    specialize (IH all). rewrite filter_app, run_snoc. cbn.
    destruct (P r) eqn:keep.
    - rewrite run_snoc. now apply (Sync _ _ _ C).
    - rewrite app_nil_r. now apply (Stutter _ _ _ C).
  Qed.

  Theorem soundness P psi I : certifies P psi I -> solution (folding g phi live D) P psi.
  Proof.
    intros C X all. apply alike_accept. exact (Final _ _ _ C _ _ (related _ _ _ _ C all)).
  Qed.
End Conditions.

Section Aggregations.
  Context {Row State Out Live : Type}.
  Variables
    (f : fold Row State Out) (phi : Out -> bool) (live : Out -> Live) (D : Row -> Prop).

  (** GROUP BY: the four conditions on the lifted fold. *)
  Corollary soundness_grouped P psi I :
    certifies (lifted Grouped f) phi live D P psi I
    -> solution (aggregating Grouped f phi live D) P psi.
  Proof. intros C. apply lifted_solution. exact (soundness _ _ _ _ _ _ _ C). Qed.

  (** No GROUP BY: the four conditions on the plain fold. *)
  Corollary soundness_global P psi I :
    certifies (total f) phi live D P psi I
    -> solution (aggregating Global f phi live D) P psi.
  Proof. intros C. apply total_solution. exact (soundness _ _ _ _ _ _ _ C). Qed.

  (** No GROUP BY, but with the flags, which an invariant may then speak of. *)
  Corollary soundness_global_lifted P psi I :
    certifies (lifted Global f) phi live D P psi I
    -> solution (aggregating Global f phi live D) P psi.
  Proof. intros C. apply lifted_solution. exact (soundness _ _ _ _ _ _ _ C). Qed.
End Aggregations.
