(** Witnesses of strength, as [src/presieve/certificate/witness.py] runs them: a table whose result
    changes when one row is left out shows that pre-filters must keep that row. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Tables Folds Checker.

Section Witnesses.
  Context {Key Row State Out Live : Type}.
  Variables
    (m : mode) (f : Key -> raising_fold Row State Out) (phi : Key -> Out -> bool)
    (live : Out -> Live) (D : Key -> Row -> Prop).

  Let original (k : Key) (X : list Row) : outcome Live := outcome_of m (f k) live (phi k) X.

  (** The rewrite by [Q] and [psi] is right on every group, with whatever key. *)
  Definition right (Q : Key -> Row -> bool) (psi : Key -> Out -> bool) : Prop :=
    forall k X, Forall (D k) X ->
    agree (original k X) (outcome_of m (f k) live (psi k) (filter (Q k) X)).

  (** What the checker accepts is right. *)
  Lemma checked_is_right P lose psi I :
    (forall k, certified m (f k) (phi k) live (D k) (P k) (lose k) (psi k) (I k)) -> right P psi.
  Proof.
    intros C k X all. apply (checker_sound _ _ _ _ (D k) (P k) (lose k) _ (I k)); auto.
    apply filter_scanned.
  Qed.

  (** A table of one group, and one of its rows. *)
  Record witness := Witness { key : Key; before : list Row; row : Row; after : list Row }.

  (** The row is in the region, and leaving it out changes the result. Neither table may raise: a
      result is no reason against a rewrite where the original fails (see Examples.v). *)
  Record shows (w : witness) (region : Key -> Row -> bool) : Prop := {
    shows_region : region (key w) (row w) = true;
    shows_lawful : Forall (D (key w)) (before w ++ row w :: after w);
    shows_quiet : original (key w) (before w ++ row w :: after w) <> Raised;
    shows_quiet_without : original (key w) (before w ++ after w) <> Raised;
    shows_change :
      original (key w) (before w ++ row w :: after w) <> original (key w) (before w ++ after w)
  }.

  Theorem witness_is_kept w region Q psi :
    shows w region -> right Q psi -> Q (key w) (row w) = true.
  Proof.
    intros [_ lawful_with quiet quiet_without change] right_Q.
    destruct (Q (key w) (row w)) eqn:keep; [reflexivity|]. exfalso. apply change.
    rewrite <- (right_Q _ _ lawful_with quiet).
    rewrite <- (right_Q _ _ (Forall_closed _ _ _ _ lawful_with) quiet_without).
    rewrite !filter_app. cbn. now rewrite keep.
  Qed.

  (** So no rewrite is right that drops the whole region. *)
  Corollary region_is_needed w region Q psi :
    shows w region -> right Q psi -> exists k r, region k r = true /\ Q k r = true.
  Proof.
    intros S R. exists (key w), (row w). split; [apply S|exact (witness_is_kept _ _ _ _ S R)].
  Qed.

  (** A pre-filter that takes regions whole or not at all. *)
  Definition whole (region Q : Key -> Row -> bool) : Prop :=
    forall k r k' r', region k r = true -> region k' r' = true -> Q k r = Q k' r'.

  (** The claim "strongest": every row that [P] keeps makes a table of its group give another result.
      No right pre-filter keeps fewer rows. *)
  Theorem strongest_of_all P Q psi :
    (forall k r, D k r -> P k r = true ->
       exists X Y, shows (Witness k X r Y) (fun _ _ => true)) ->
    right Q psi -> forall k r, D k r -> P k r = true -> Q k r = true.
  Proof.
    intros witnessed R k r lawful_r keep.
    destruct (witnessed k r lawful_r keep) as (X & Y & S).
    exact (witness_is_kept _ _ _ _ S R).
  Qed.

  (** The claim "regions": every row that [P] keeps lies in a region with a witness. No right
      pre-filter that takes those regions whole or not at all keeps fewer rows. *)
  Theorem strongest_of_regions P Q psi regions :
    (forall region, In region regions -> exists w, shows w region) ->
    (forall k r, D k r -> P k r = true ->
       exists region, In region regions /\ region k r = true) ->
    right Q psi -> (forall region, In region regions -> whole region Q) ->
    forall k r, D k r -> P k r = true -> Q k r = true.
  Proof.
    intros witnesses covered R wholes k r lawful_r keep.
    destruct (covered k r lawful_r keep) as (region & listed & inside).
    destruct (witnesses region listed) as [w S].
    rewrite (wholes region listed k r (key w) (row w) inside (shows_region _ _ S)).
    exact (witness_is_kept _ _ _ _ S R).
  Qed.

  (** A group of rows that shows that the residual [psi] of [P] cannot be weakened to [rest], be it
      [psi] without one of its conjuncts: the filter rejects the group, and [rest] accepts what [P]
      keeps of it. *)
  Record lets_through (k : Key) (X : list Row) (P : Key -> Row -> bool) (rest : Key -> Out -> bool)
    : Prop := {
    lets_lawful : Forall (D k) X;
    lets_rejected : original k X = Nothing;
    lets_accepted : exists o, outcome_of m (f k) live (rest k) (filter (P k) X) = Result o
  }.

  Theorem conjunct_is_needed k X P rest : lets_through k X P rest -> ~ right P rest.
  Proof.
    intros [lawful rejected [o accepted]] R.
    assert (quiet : original k X <> Raised) by now rewrite rejected.
    specialize (R k X lawful quiet). rewrite accepted, rejected in R. discriminate.
  Qed.
End Witnesses.
