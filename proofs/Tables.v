(** Tables: lists of rows, what filters do to them, and what may be assumed of them. *)

From Coq Require Import List Bool Permutation.
Import ListNotations.

Section Tables.
  Context {Row : Type}.

  (** ** Filtering *)

  Lemma Forall_filter (P : Row -> bool) X : Forall (fun r => P r = true) (filter P X).
  Proof. apply Forall_forall. intros r inside. now apply filter_In in inside. Qed.

  Lemma filter_all (P : Row -> bool) X : Forall (fun r => P r = true) X -> filter P X = X.
  Proof. induction 1 as [|r X keep _ IH]; cbn; [reflexivity|]. now rewrite keep, IH. Qed.

  Lemma filter_twice (P : Row -> bool) X : filter P (filter P X) = filter P X.
  Proof. apply filter_all, Forall_filter. Qed.

  Lemma filter_others (P : Row -> bool) X : filter P (filter (fun r => negb (P r)) X) = [].
  Proof.
    induction X as [|r X IH]; cbn; [reflexivity|].
    destruct (P r) eqn:E; cbn; [exact IH|]. now rewrite E.
  Qed.

  Lemma filter_permutation (P : Row -> bool) X Y :
    Permutation X Y -> Permutation (filter P X) (filter P Y).
  Proof.
    induction 1 as [|r X Y _ IH|r s X|X Y Z _ IH1 _ IH2]; cbn.
    - constructor.
    - destruct (P r); [now constructor|exact IH].
    - destruct (P r), (P s); try reflexivity. apply perm_swap.
    - now transitivity (filter P Y).
  Qed.

  Lemma partition_permutation (P : Row -> bool) X :
    Permutation X (filter P X ++ filter (fun r => negb (P r)) X).
  Proof.
    induction X as [|r X IH]; cbn; [constructor|].
    destruct (P r); cbn.
    - now constructor.
    - now apply Permutation_cons_app.
  Qed.

  (** ** Tables that can occur *)

  (** What is assumed of tables must be closed under deleting rows: pre-filters delete some. *)
  Definition closed (law : list Row -> Prop) : Prop :=
    forall X r Y, law (X ++ r :: Y) -> law (X ++ Y).

  (** Every fact about single rows is. *)
  Lemma Forall_closed (D : Row -> Prop) : closed (Forall D).
  Proof.
    intros X r Y all. apply Forall_app in all as [before after].
    apply Forall_app. split; [assumption|]. now inversion after.
  Qed.

  Lemma closed_filter law P X : closed law -> law X -> law (filter P X).
  Proof.
    intros del.
    enough (H : forall B A, law (A ++ B) -> law (A ++ filter P B)) by exact (H X []).
    induction B as [|r B IH]; intros A holds; [assumption|]. cbn.
    destruct (P r).
    - change (r :: filter P B) with ([r] ++ filter P B). rewrite app_assoc.
      apply IH. now rewrite <- app_assoc.
    - apply IH. now apply (del A r B).
  Qed.
End Tables.
