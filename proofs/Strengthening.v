(** Decoupling (vi): the strongest pre-filter that an invariant certifies. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Folds Problems Certificates Checker.

Section Strengthening.
  Context {Row State Out Live : Type}.
  Variables
    (g : fold Row State (option Out))
    (phi : Out -> bool)
    (live : Out -> Live)
    (D : Row -> Prop)
    (P : Row -> bool)
    (psi : Out -> bool)
    (I : State -> State -> Prop).

  Hypothesis I_decided : forall s t, I s t \/ ~ I s t.

  (** [P_qe]: the rows that must not be dropped if [I] is to be kept. *)
  Definition forced (r : Row) : Prop := exists s t, I s t /\ ~ I (step g s r) t.

  Variable P_qe : Row -> bool.
  Hypothesis P_qe_forced : forall r, D r -> (P_qe r = true <-> forced r).

  (** Every pre-filter that [I] certifies keeps these rows. *)
  Theorem forced_is_stronger :
    certifies g phi live D P psi I -> forall r, D r -> P_qe r = true -> P r = true.
  Proof.
    intros C r lawful_r keep.
    apply P_qe_forced in keep as (s & t & related & breaks); [|assumption].
    destruct (P r) eqn:E; [reflexivity|]. exfalso. apply breaks.
    now apply (Stutter _ _ _ _ _ _ _ C).
  Qed.

  (** And where [I] certifies any pre-filter, it certifies the one that keeps these rows only. *)
  Theorem forced_is_certified :
    certifies g phi live D P psi I -> certifies g phi live D P_qe psi I.
  Proof.
    intros C. split.
    - exact (Init _ _ _ _ _ _ _ C).
    - intros s t r related lawful_r keep. apply (Sync _ _ _ _ _ _ _ C); auto.
      now apply forced_is_stronger.
    - intros s t r related lawful_r dropped.
      destruct (I_decided (step g s r) t) as [kept|breaks]; [exact kept|].
      assert (P_qe r = true) by (apply P_qe_forced; [assumption|now exists s, t]). congruence.
    - exact (Final _ _ _ _ _ _ _ C).
  Qed.
End Strengthening.

(** The same for the conditions that are checked, with errors and rows that the scan may lose. *)
Section CheckedStrengthening.
  Context {Row State Out Live : Type}.
  Variables
    (m : mode) (f : raising_fold Row State Out) (phi : Out -> bool) (live : Out -> Live)
    (D : Row -> Prop) (P lose lose' : Row -> bool) (psi : Out -> bool)
    (I : bool -> State -> bool -> State -> Prop).

  Hypothesis I_decided : forall n s n' s', I n s n' s' \/ ~ I n s n' s'.

  Definition checked_forced (r : Row) : Prop :=
    exists n s n' s',
      I n s n' s' /\ step_raises f s r = false /\ ~ I true (step (pure f) s r) n' s'.

  Variable P_qe : Row -> bool.
  Hypothesis P_qe_forced : forall r, D r -> (P_qe r = true <-> checked_forced r).

  (** A stronger pre-filter may be given to the scan in another form; of the rows that it keeps the
      scan must lose none that it kept for sure before. *)
  Hypothesis lose_less : forall r, D r -> P_qe r = true -> lose' r = true -> lose r = true.

  Theorem checked_forced_is_checked :
    checked m f phi live D P lose psi I -> checked m f phi live D P_qe lose' psi I.
  Proof.
    intros C.
    assert (drop : forall n s n' s' r,
      I n s n' s' -> D r -> P_qe r = false -> step_raises f s r = false ->
      I true (step (pure f) s r) n' s'). {
      intros n s n' s' r related lawful_r dropped quiet.
      destruct (I_decided true (step (pure f) s r) n' s') as [kept|breaks]; [exact kept|].
      assert (P_qe r = true)
        by (apply P_qe_forced; [assumption|exists n, s, n', s'; auto]).
      congruence.
    }
    split.
    - exact (checked_init _ _ _ _ _ _ _ _ _ C).
    - intros n s n' s' r related lawful_r keep quiet.
      apply (checked_sync _ _ _ _ _ _ _ _ _ C n s n' s'); auto.
      destruct (P r) eqn:E; [reflexivity|].
      apply P_qe_forced in keep as (n1 & s1 & n2 & s2 & related' & quiet' & breaks);
        [|assumption].
      exfalso. apply breaks.
      apply (checked_stutter _ _ _ _ _ _ _ _ _ C n1 s1); auto.
    - intros n s n' s' r related lawful_r lost quiet.
      destruct (P_qe r) eqn:keep; [|now apply (drop n)].
      destruct lost as [dropped|lost]; [discriminate|].
      apply (checked_stutter _ _ _ _ _ _ _ _ _ C n s); auto.
    - exact (checked_final _ _ _ _ _ _ _ _ _ C).
  Qed.
End CheckedStrengthening.
