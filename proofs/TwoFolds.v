(** Another fold in a fold's place: two different folds over the same rows, side by side. *)

From Coq Require Import List Bool Permutation.
Import ListNotations.
From Presieve Require Import Folds.

Section TwoFolds.
  Context {Row A B Out : Type}.
  Variable D : Row -> Prop.  (* what is assumed of rows *)
  Variable f : fold Row A Out.
  Variable g : fold Row B Out.
  Variable J : A -> B -> Prop.

  Definition first := forall r, D r -> J (step f (init f) r) (step g (init g) r).
  Definition next := forall a b r, J a b -> D r -> J (step f a r) (step g b r).
  Definition final := forall a b, J a b -> out f a = out g b.

  (** States of [g] that are reached. *)
  Definition met (b : B) : Prop := b = init g \/ exists a, J a b.
  Definition swap :=
    forall b r q, met b -> D r -> D q -> step g (step g b r) q = step g (step g b q) r.

  Lemma related_after a b X :
    next -> J a b -> Forall D X -> J (resume f a X) (resume g b X).
  Proof.
    intros N. revert a b. induction X as [|r X IH]; intros a b j all; [exact j|].
    inversion all; subst. apply IH; [now apply N|assumption].
  Qed.

  (** Of every group, which has a row, both give the same. *)
  Theorem same_result r X :
    first -> next -> final -> Forall D (r :: X) ->
    out f (run f (r :: X)) = out g (run g (r :: X)).
  Proof.
    intros F N E all. inversion all; subst. apply E.
    apply (related_after (step f (init f) r) (step g (init g) r) X N); [now apply F|assumption].
  Qed.

  Lemma met_next b r : first -> next -> met b -> D r -> met (step g b r).
  Proof.
    intros F N [->|[a j]] d; right.
    - exists (step f (init f) r). now apply F.
    - exists (step f a r). now apply N.
  Qed.

  Lemma resume_in_any_order X Y :
    first -> next -> swap -> Permutation X Y -> forall b, met b -> Forall D X ->
    resume g b X = resume g b Y.
  Proof.
    intros F N S order. induction order as [|r X Y order IH|r q X|X Y Z one IH1 two IH2];
      intros b m all.
    - reflexivity.
    - inversion all; subst. apply IH; [now apply met_next|assumption].
    - inversion all as [|? ? d rest]; subst. inversion rest; subst.
      unfold resume. simpl. now rewrite (S b r q).
    - rewrite (IH1 b m all). apply IH2; [exact m|].
      now apply (Permutation_Forall one).
  Qed.

  (** [g] may be given the rows in any order, where any two of them may change places. *)
  Theorem in_its_place r X Y :
    first -> next -> final -> swap -> Forall D (r :: X) -> Permutation (r :: X) Y ->
    out g (run g Y) = out f (run f (r :: X)).
  Proof.
    intros F N E S all order. rewrite (same_result r X F N E all). f_equal. symmetry.
    apply (resume_in_any_order (r :: X) Y F N S order (init g)); [now left|exact all].
  Qed.

  (** So the result of [f] does not depend on the order, either. *)
  Corollary no_order_matters r q X Y :
    first -> next -> final -> swap -> Forall D (r :: X) -> Permutation (r :: X) (q :: Y) ->
    out f (run f (r :: X)) = out f (run f (q :: Y)).
  Proof.
    intros F N E S all order. rewrite <- (in_its_place r X (q :: Y) F N E S all order).
    symmetry. apply same_result; trivial. now apply (Permutation_Forall order).
  Qed.
End TwoFolds.

(** A step that raises, and a flag that says whether one has. *)
Section Raised.
  Context {Row A : Type}.
  Variable raises : A -> Row -> bool.
  Variable step : A -> Row -> A.

  (** The state after the rows, unless Python raises on one of them. *)
  Fixpoint carefully (a : A) (X : list Row) : option A :=
    match X with
    | [] => Some a
    | r :: X => if raises a r then None else carefully (step a r) X
    end.

  Definition flagged (s : A * bool) (r : Row) : A * bool :=
    (step (fst s) r, snd s || raises (fst s) r).

  Lemma flag_stays a X : snd (fold_left flagged X (a, true)) = true.
  Proof. revert a. induction X as [|r X IH]; intros a; [reflexivity|]. apply IH. Qed.

  Theorem flag_tells a X :
    match carefully a X with
    | None => snd (fold_left flagged X (a, false)) = true
    | Some b => fold_left flagged X (a, false) = (b, false)
    end.
  Proof.
    revert a. induction X as [|r X IH]; intros a; [reflexivity|].
    simpl. unfold flagged at 2 4. simpl. destruct (raises a r).
    - apply flag_stays.
    - apply IH.
  Qed.
End Raised.
