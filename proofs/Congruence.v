(** Decoupling (v): the coarsest relation for skipping rows. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Tables Folds Problems Certificates Decoupling Skipping.

Section Congruence.
  Context {Row State Out Live : Type}.
  Variables
    (g : fold Row State (option Out))
    (phi : Out -> bool)
    (live : Out -> Live)
    (D : Row -> Prop).

  Let ends_alike (s t : State) : Prop := alike live phi phi (out g s) (out g t).

  (** No [k] rows tell the states apart. *)
  Fixpoint level (k : nat) (s t : State) : Prop :=
    match k with
    | 0 => ends_alike s t
    | S k => level k s t /\ forall r, D r -> level k (step g s r) (step g t r)
    end.

  (** No rows at all do. *)
  Definition congruent (s t : State) : Prop := forall k, level k s t.

  Lemma level_resume k Y :
    length Y <= k -> Forall D Y -> forall s t, level k s t ->
    ends_alike (resume g s Y) (resume g t Y).
  Proof.
    revert k. induction Y as [|r Y IH]; cbn; intros k short all s t same.
    - clear short. induction k as [|k IHk]; [exact same|]. apply IHk, same.
    - destruct k as [|k]; [inversion short|].
      inversion_clear all as [|? ? lawful_r all'].
      apply (IH k); [now apply le_S_n|assumption|]. now apply same.
  Qed.

  Lemma congruent_iff s t :
    congruent s t <-> forall Y, Forall D Y -> ends_alike (resume g s Y) (resume g t Y).
  Proof.
    split.
    - intros same Y all. now apply (level_resume (length Y)).
    - intros same k. revert s t same. induction k as [|k IH]; intros s t same.
      + exact (same [] (Forall_nil _)).
      + split; [now apply IH|]. intros r lawful_r. apply IH. intros Y all.
        exact (same (r :: Y) (Forall_cons _ lawful_r all)).
  Qed.

  (** It is an equivalence, and satisfies Step and Final. *)
  Theorem congruent_refl s : congruent s s.
  Proof. apply congruent_iff. intros Y _. now apply alike_accept. Qed.

  Theorem congruent_sym s t : congruent s t -> congruent t s.
  Proof.
    rewrite !congruent_iff. intros same Y all.
    apply alike_accept. symmetry. apply alike_accept. now apply same.
  Qed.

  Theorem congruent_trans s t u : congruent s t -> congruent t u -> congruent s u.
  Proof.
    rewrite !congruent_iff. intros st tu Y all.
    apply alike_accept. transitivity (accept live phi (out g (resume g t Y)));
      apply alike_accept; [now apply st|now apply tu].
  Qed.

  Theorem congruent_step s t r : congruent s t -> D r -> congruent (step g s r) (step g t r).
  Proof. intros same lawful_r k. now apply (same (S k)). Qed.

  Theorem congruent_final s t : congruent s t -> alike live phi phi (out g s) (out g t).
  Proof. intros same. exact (same 0). Qed.

  (** Every other relation for skipping rows is finer. *)
  Theorem congruent_coarsest P J0 I s t :
    skips g phi live D P J0 I -> J0 s -> J0 t -> I s t -> congruent s t.
  Proof.
    intros S js jt related. apply congruent_iff. intros Y all.
    now apply (skips_resume g phi live D P J0 I Y).
  Qed.

  Definition reachable (s : State) : Prop := exists X, Forall D X /\ s = run g X.

  (** So nothing is lost by proving pre-filters with one-row-skip obligations. *)
  Theorem skipping_is_complete P :
    valid (folding g phi live D) P <-> skips g phi live D P reachable congruent.
  Proof.
    split; [|apply skipping_is_sound].
    intros V. split.
    - now exists [].
    - intros s r (X & all & ->) lawful_r. exists (X ++ [r]).
      split; [apply Forall_app; auto|]. symmetry. apply run_snoc.
    - intros s r (X & all & ->) lawful_r dropped. apply congruent_iff. intros Y all'.
      apply alike_accept.
      assert (removes := proj1 (valid_is_pointwise (folding g phi live D) (Forall_closed D) P)
        V r dropped X Y).
      unfold value, filtered in removes; cbn in removes. rewrite !run_app in removes.
      apply removes. apply Forall_app. auto.
    - intros s t r _ _ same lawful_r. now apply congruent_step.
    - intros s t _ _ same. now apply congruent_final.
  Qed.
End Congruence.
