(** GROUP BY: one table with keys, one fold per group in which the key is a constant. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Folds Problems Checker.

Section Groups.
  Context {Key Row : Type}.
  Variable eqb : Key -> Key -> bool.
  Hypothesis eqb_eq : forall j k, eqb j k = true <-> j = k.

  (** The rows of one group, in the table's order. *)
  Definition rows_of (k : Key) (T : list (Key * Row)) : list Row :=
    map snd (filter (fun kr => eqb (fst kr) k) T).

  (** A predicate on rows with their keys, as it is put below the grouping. *)
  Definition keyed {B : Type} (P : Key -> Row -> B) (kr : Key * Row) : B := P (fst kr) (snd kr).

  (** Filtering the table filters each group, with its key as a constant. *)
  Lemma rows_of_filter P k T : rows_of k (filter (keyed P) T) = filter (P k) (rows_of k T).
  Proof.
    unfold rows_of, keyed. induction T as [|[j r] T IH]; cbn; [reflexivity|].
    destruct (eqb j k) eqn:E.
    - apply eqb_eq in E as ->. cbn.
      destruct (P k r); cbn; [rewrite (proj2 (eqb_eq k k) eq_refl); cbn|]; now rewrite IH.
    - destruct (P j r); cbn; [rewrite E|]; exact IH.
  Qed.

  (** So does a scan that may lose rows besides. *)
  Lemma rows_of_scanned P lose k T T' :
    scanned (keyed P) (keyed lose) T T' ->
    scanned (P k) (lose k) (rows_of k T) (rows_of k T').
  Proof.
    unfold rows_of, keyed.
    induction 1 as [|[j r] T T' dropped _ IH|[j r] T T' kept _ IH]; cbn in *.
    - constructor.
    - destruct (eqb j k) eqn:E; [|exact IH].
      apply eqb_eq in E as ->. now apply scanned_dropped.
    - destruct (eqb j k) eqn:E; [|exact IH].
      apply eqb_eq in E as ->. now apply scanned_kept.
  Qed.

  Lemma rows_of_Forall D k T : Forall (keyed D) T -> Forall (D k) (rows_of k T).
  Proof.
    unfold rows_of, keyed.
    induction 1 as [|[j r] T lawful_r _ IH]; cbn; [constructor|].
    destruct (eqb j k) eqn:E; [|exact IH].
    apply eqb_eq in E as ->. now constructor.
  Qed.

  (** Solutions for every key, put below the grouping at once, leave every group's result as it
      is; groups that are not in the table are those without rows. *)
  Theorem grouped_query
      {Out Live : Type} (p : Key -> problem Row Out Live) (P : Key -> Row -> bool)
      (psi : Key -> Out -> bool) :
    (forall k, solution (p k) (P k) (psi k)) ->
    forall T, (forall k, lawful (p k) (rows_of k T)) ->
    forall k, value (p k) (rows_of k T) = filtered (p k) (psi k) (rows_of k (filter (keyed P) T)).
  Proof. intros S T all k. rewrite rows_of_filter. now apply S. Qed.

  (** The same for what the checker accepts: a job that does not fail does not fail afterwards and
      gives the same in every group. *)
  Theorem grouped_job
      {State Out Live : Type} (f : Key -> raising_fold Row State Out) (live : Out -> Live)
      (D : Key -> Row -> Prop) (P lose : Key -> Row -> bool) (phi psi : Key -> Out -> bool)
      (I : Key -> bool -> State -> bool -> State -> Prop) :
    (forall k, certified Grouped (f k) (phi k) live (D k) (P k) (lose k) (psi k) (I k)) ->
    forall T T', Forall (keyed D) T -> scanned (keyed P) (keyed lose) T T' ->
    (forall k, outcome_of Grouped (f k) live (phi k) (rows_of k T) <> Raised) ->
    forall k, outcome_of Grouped (f k) live (psi k) (rows_of k T')
              = outcome_of Grouped (f k) live (phi k) (rows_of k T).
  Proof.
    intros C T T' all scan fine k.
    apply (checker_sound _ _ _ _ (D k) (P k) (lose k) _ (I k)); auto using rows_of_Forall.
    now apply rows_of_scanned.
  Qed.
End Groups.

(** A conjunct [b] of the filter that speaks of the key alone is a constant of the group. It goes
    below the grouping as it is, and nothing of it stays above. *)
Theorem key_conjunct {Row State Out Live : Type} (f : fold Row State Out) (live : Out -> Live) D
    (b : bool) (phi : Out -> bool) :
  solution (aggregating Grouped f (fun o => b && phi o) live D) (fun _ => b) phi.
Proof.
  intros X _. destruct b.
  - now replace (filter (fun _ => true) X) with X by (induction X; cbn; congruence).
  - replace (filter (fun _ => false) X) with (@nil Row) by (induction X; cbn; congruence).
    now destruct X.
Qed.
