(** What solutions are: the decoupling theorem, (i) to (iii). It holds for every
    function on tables, whether a fold or not. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Tables Problems.

Section Decoupling.
  Context {Row Out Live : Type}.
  Variable p : problem Row Out Live.
  Hypothesis lawful_closed : closed (lawful p).

  (** ** (i) The residual is a separate problem of one run *)

  (** Filter and residual agree on the outputs of tables all of whose rows satisfy [P]. *)
  Definition same_above (P : Row -> bool) (psi : Out -> bool) : Prop :=
    forall X o, lawful p X -> Forall (fun r => P r = true) X -> apply p X = Some o ->
    where_ p o = psi o.

  Theorem residual_is_separate P psi : solution p P psi <-> valid p P /\ same_above P psi.
  Proof.
    split.
    - intros S. split.
      + intros X all. rewrite (S X all). rewrite <- (filter_twice P X) at 1.
        symmetry. apply S. now apply closed_filter.
      + intros X o all kept applied. specialize (S X all). rewrite (filter_all _ _ kept) in S.
        unfold value, filtered in S. rewrite applied in S. now apply accept_true_iff in S.
    - intros [V same] X all. rewrite (V X all).
      unfold filtered. destruct (apply p (filter P X)) as [o|] eqn:applied; [|reflexivity].
      apply accept_true_iff. apply (same (filter P X)); [now apply closed_filter| |exact applied].
      apply Forall_filter.
  Qed.

  (** So the pre-filters of solutions are the valid ones, whatever the residual... *)
  Corollary prefilters_are_valid P : (exists psi, solution p P psi) <-> valid p P.
  Proof.
    split; [intros [psi S]; now apply residual_is_separate in S|].
    intros V. now exists (where_ p).
  Qed.

  (** ...all residuals of one pre-filter say the same of the outputs that can still occur... *)
  Corollary residuals_agree P psi psi' :
    solution p P psi -> solution p P psi' ->
    forall X o, lawful p X -> Forall (fun r => P r = true) X -> apply p X = Some o ->
    psi o = psi' o.
  Proof.
    intros S S' X o all kept applied.
    apply residual_is_separate in S as [_ same]. apply residual_is_separate in S' as [_ same'].
    now rewrite <- (same X o), <- (same' X o).
  Qed.

  (** ...and nothing is left to check above where all of those pass the filter. *)
  Corollary exact_iff P :
    solution p P (fun _ => true)
    <-> valid p P /\ forall X o, lawful p X -> Forall (fun r => P r = true) X ->
                    apply p X = Some o -> where_ p o = true.
  Proof. apply residual_is_separate. Qed.

  (** ** (ii) A pre-filter is valid where every row that it drops is removable *)

  Definition removable (r : Row) : Prop :=
    forall X Y, lawful p (X ++ r :: Y) -> value p (X ++ r :: Y) = value p (X ++ Y).

  Theorem valid_is_pointwise P : valid p P <-> forall r, P r = false -> removable r.
  Proof.
    split.
    - intros V r dropped X Y all. rewrite (V _ all), (V (X ++ Y)) by now apply (lawful_closed X r).
      unfold filtered. rewrite !filter_app. cbn. now rewrite dropped.
    - intros removes X.
      enough (H : forall B A, lawful p (A ++ B) -> value p (A ++ B) = value p (A ++ filter P B))
        by exact (H X []).
      induction B as [|r B IH]; intros A all; [reflexivity|]. cbn.
      destruct (P r) eqn:keep.
      + change (r :: filter P B) with ([r] ++ filter P B).
        rewrite app_assoc, <- IH, <- app_assoc; [reflexivity|]. now rewrite <- app_assoc.
      + rewrite (removes r keep A B all). apply IH. now apply (lawful_closed A r).
  Qed.

  (** ** (iii) Valid pre-filters are closed under conjunction and weakening *)

  Definition stronger (P Q : Row -> bool) : Prop := forall r, P r = true -> Q r = true.

  Definition both (P Q : Row -> bool) (r : Row) : bool := P r && Q r.

  Theorem valid_both P Q : valid p P -> valid p Q -> valid p (both P Q).
  Proof.
    intros VP VQ. apply valid_is_pointwise. intros r dropped.
    apply andb_false_iff in dropped as [dropped|dropped].
    - now apply (proj1 (valid_is_pointwise P) VP).
    - now apply (proj1 (valid_is_pointwise Q) VQ).
  Qed.

  Theorem valid_weaker P Q : valid p P -> stronger P Q -> valid p Q.
  Proof.
    intros VP weaker. apply valid_is_pointwise. intros r dropped.
    apply (proj1 (valid_is_pointwise P) VP).
    destruct (P r) eqn:keep; [|reflexivity]. apply weaker in keep. congruence.
  Qed.

  Theorem valid_true : valid p (fun _ => true).
  Proof. apply valid_is_pointwise. discriminate. Qed.

  (** The best conjunction over a universe is the conjunction of its valid clauses. *)

  Definition conjunction (clauses : list (Row -> bool)) (r : Row) : bool :=
    forallb (fun clause => clause r) clauses.

  Theorem valid_conjunction clauses :
    valid p (conjunction clauses) <-> Forall (valid p) clauses.
  Proof.
    split.
    - intros V. apply Forall_forall. intros clause inside.
      apply (valid_weaker _ _ V). intros r keep.
      unfold conjunction in keep. rewrite forallb_forall in keep. now apply keep.
    - induction 1 as [|clause clauses V _ IH]; [exact valid_true|]. exact (valid_both _ _ V IH).
  Qed.

  Corollary best_conjunction universe best :
    (forall clause, In clause best <-> In clause universe /\ valid p clause) ->
    valid p (conjunction best)
    /\ forall clauses, incl clauses universe -> valid p (conjunction clauses) ->
       stronger (conjunction best) (conjunction clauses).
  Proof.
    intros spec. split.
    - apply valid_conjunction, Forall_forall. intros clause inside. now apply spec in inside.
    - intros clauses within V r keep.
      apply valid_conjunction in V. rewrite Forall_forall in V.
      unfold conjunction in *. rewrite forallb_forall in *. intros clause inside.
      apply keep, spec. auto.
  Qed.

  (** ** (iii) The strongest pre-filter *)

  Definition strongest (P : Row -> bool) : Prop :=
    valid p P /\ forall Q, valid p Q -> stronger P Q.

  (** There is at most one. *)
  Theorem strongest_unique P Q : strongest P -> strongest Q -> forall r, P r = Q r.
  Proof.
    intros [VP best] [VQ best'] r. specialize (best Q VQ r). specialize (best' P VP r).
    destruct (P r), (Q r); auto; symmetry; auto.
  Qed.

  (** A row is needed if some table's value changes when it is left out. *)
  Definition needed (r : Row) : Prop :=
    exists X Y, lawful p (X ++ r :: Y) /\ value p (X ++ r :: Y) <> value p (X ++ Y).

  (** Every valid pre-filter keeps the rows that are needed. *)
  Theorem needed_is_kept P r : valid p P -> needed r -> P r = true.
  Proof.
    intros V (X & Y & all & differ). destruct (P r) eqn:keep; [reflexivity|].
    exfalso. apply differ. now apply (proj1 (valid_is_pointwise P) V).
  Qed.

  Section Decidable.
    Hypothesis value_eq_dec : forall v w : option Live, {v = w} + {v <> w}.

    Lemma not_needed_is_removable r : ~ needed r -> removable r.
    Proof.
      intros unneeded X Y all. destruct (value_eq_dec (value p (X ++ r :: Y)) (value p (X ++ Y)))
        as [same|differ]; [exact same|].
      exfalso. apply unneeded. now exists X, Y.
    Qed.

    (** The pre-filter that keeps exactly the needed rows is the strongest. *)
    Theorem strongest_keeps_the_needed P :
      (forall r, P r = true <-> needed r) -> strongest P.
    Proof.
      intros spec. split.
      - apply valid_is_pointwise. intros r dropped. apply not_needed_is_removable.
        intros need. apply spec in need. congruence.
      - intros Q V r keep. apply (needed_is_kept Q r V). now apply spec.
    Qed.

    (** And the strongest keeps exactly the rows that are not removable; where each row is known to
        be needed or removable, these are the needed ones. *)
    Hypothesis row_eq_dec : forall r r' : Row, {r = r'} + {r <> r'}.

    Theorem strongest_iff P : strongest P <-> forall r, P r = true <-> ~ removable r.
    Proof.
      split.
      - intros [V best] r. split.
        + intros keep removes.
          (* Were [r] removable, then [P] without [r] would be valid and stronger. *)
          set (Q r' := P r' && if row_eq_dec r r' then false else true).
          assert (VQ : valid p Q). {
            apply valid_is_pointwise. intros r' dropped. unfold Q in dropped.
            destruct (row_eq_dec r r') as [<-|]; [exact removes|].
            rewrite andb_true_r in dropped. now apply (proj1 (valid_is_pointwise P) V).
          }
          specialize (best Q VQ r keep). unfold Q in best.
          destruct (row_eq_dec r r); [|congruence]. rewrite andb_false_r in best. discriminate.
        + intros kept. destruct (P r) eqn:keep; [reflexivity|].
          exfalso. apply kept. now apply (proj1 (valid_is_pointwise P) V).
      - intros spec. split.
        + apply valid_is_pointwise. intros r dropped X Y all.
          destruct (value_eq_dec (value p (X ++ r :: Y)) (value p (X ++ Y)))
            as [same|differ]; [exact same|].
          assert (keep : P r = true) by (apply spec; intros removes; apply differ; auto).
          congruence.
        + intros Q V r keep. destruct (Q r) eqn:dropped; [reflexivity|].
          exfalso. apply (proj1 (spec r) keep). now apply (proj1 (valid_is_pointwise Q) V).
    Qed.

    Corollary strongest_iff_needed P :
      (forall r, needed r \/ removable r) ->
      (strongest P <-> forall r, P r = true <-> needed r).
    Proof.
      intros decided. split; [|apply strongest_keeps_the_needed].
      intros best r. rewrite (proj1 (strongest_iff P) best r). split.
      - intros kept. now destruct (decided r) as [|removes].
      - intros (X & Y & all & differ) removes. apply differ. now apply removes.
    Qed.
  End Decidable.
End Decoupling.
