(** Decoupling (iv): one-row-skip obligations. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Tables Folds Problems Certificates Decoupling.

Section Skipping.
  Context {Row State Out Live : Type}.
  Variables
    (g : fold Row State (option Out))
    (phi : Out -> bool)
    (live : Out -> Live)
    (D : Row -> Prop).

  (** [J0] holds in every state that a run reaches; [I] relates states that no rows to come can tell
      apart; a row that is dropped leads from a state to a related one. *)
  Record skips (P : Row -> bool) (J0 : State -> Prop) (I : State -> State -> Prop) : Prop := {
    Start : J0 (init g);
    Reach s r : J0 s -> D r -> J0 (step g s r);
    Skip s r : J0 s -> D r -> P r = false -> I (step g s r) s;
    Step s t r : J0 s -> J0 t -> I s t -> D r -> I (step g s r) (step g t r);
    Alike s t : J0 s -> J0 t -> I s t -> alike live phi phi (out g s) (out g t)
  }.

  (** [J] holds in every state that a run over rows with [P] reaches, and there the residual says
      what the filter says. *)
  Record decides (P : Row -> bool) (psi : Out -> bool) (J : State -> Prop) : Prop := {
    Decides_start : J (init g);
    Decides_reach s r : J s -> D r -> P r = true -> J (step g s r);
    Decides_same s : J s -> passes phi (out g s) = passes psi (out g s)
  }.

  Lemma skips_resume P J0 I X :
    skips P J0 I -> Forall D X -> forall s t, J0 s -> J0 t -> I s t ->
    alike live phi phi (out g (resume g s X)) (out g (resume g t X)).
  Proof.
    intros S. induction 1 as [|r X lawful_r _ IH]; intros s t js jt related; cbn.
    - now apply (Alike _ _ _ S).
    - apply IH; [now apply (Reach _ _ _ S)..|now apply (Step _ _ _ S)].
  Qed.

  Theorem skipping_is_sound P J0 I : skips P J0 I -> valid (folding g phi live D) P.
  Proof.
    intros S. apply valid_is_pointwise; [exact (Forall_closed D)|].
    intros r dropped X Y all. apply Forall_app in all as [before after].
    inversion_clear after as [|? ? lawful_r after'].
    unfold value, filtered; cbn. apply alike_accept. rewrite !run_app. cbn.
    assert (reached : J0 (run g X)). {
      apply (run_invariant J0 D); [exact (Start _ _ _ S)|exact (Reach _ _ _ S)|exact before].
    }
    apply (skips_resume P J0 I); auto.
    - now apply (Reach _ _ _ S).
    - now apply (Skip _ _ _ S).
  Qed.

  Corollary skipping_with_residual P J0 I psi J :
    skips P J0 I -> decides P psi J -> solution (folding g phi live D) P psi.
  Proof.
    intros S R. apply residual_is_separate; [exact (Forall_closed D)|].
    split; [now apply (skipping_is_sound P J0 I)|].
    intros X o all kept applied. cbn in *.
    assert (same : passes phi (out g (run g X)) = passes psi (out g (run g X))). {
      apply (Decides_same _ _ _ R).
      apply (run_invariant J (fun r => D r /\ P r = true)).
      - exact (Decides_start _ _ _ R).
      - intros s r holds [lawful_r keep]. now apply (Decides_reach _ _ _ R).
      - rewrite Forall_forall in *. auto.
    }
    now rewrite applied in same.
  Qed.

  (** Where [I] is an equivalence, the four conditions follow. *)
  Theorem skipping_certifies P J0 I psi J :
    skips P J0 I -> decides P psi J ->
    (forall s, I s s) -> (forall s t u, I s t -> I t u -> I s u) ->
    certifies g phi live D P psi (fun s t => J0 s /\ J0 t /\ J t /\ I s t).
  Proof.
    intros S R refl trans. split.
    - repeat split; try exact (Start _ _ _ S); [exact (Decides_start _ _ _ R)|apply refl].
    - intros s t r (js & jt & j & related) lawful_r keep.
      repeat split; [now apply (Reach _ _ _ S)..| |].
      + now apply (Decides_reach _ _ _ R).
      + now apply (Step _ _ _ S).
    - intros s t r (js & jt & j & related) lawful_r dropped.
      repeat split; auto; [now apply (Reach _ _ _ S)|].
      apply (trans _ s); [now apply (Skip _ _ _ S)|exact related].
    - intros s t (js & jt & j & related).
      assert (same := Decides_same _ _ _ R t j).
      destruct (Alike _ _ _ S s t js jt related) as [(here & there & E)|(here & there)];
        rewrite same in there; [left|right]; auto.
  Qed.
End Skipping.

(** With GROUP BY or without: the obligations on the lifted fold. *)
Corollary skipping_aggregation
    {Row State Out Live : Type} m (f : fold Row State Out) phi (live : Out -> Live) D P J0 I psi J :
  skips (lifted m f) phi live D P J0 I -> decides (lifted m f) phi D P psi J ->
  solution (aggregating m f phi live D) P psi.
Proof. intros S R. apply lifted_solution. exact (skipping_with_residual _ _ _ _ _ _ _ _ _ S R). Qed.
