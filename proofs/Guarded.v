(** Guarded plans: groups in which an assumption may fail keep all their rows, the others lose what
    the pre-filter drops, and the filter stays above. Nothing is assumed of the table. *)

From Coq Require Import List Bool PeanoNat.
Import ListNotations.
From Presieve Require Import Tables Folds Problems Checker Grouping Decoupling.

(** ** What the checker accepts holds with the filter above, too *)

Section Staying.
  Context {Row State Out Live : Type}.
  Variables
    (m : mode) (f : raising_fold Row State Out) (phi : Out -> bool) (live : Out -> Live)
    (D : Row -> Prop) (P lose : Row -> bool) (psi : Out -> bool)
    (I : bool -> State -> bool -> State -> Prop).

  (** Whether a run raises does not depend on the filter. *)
  Lemma raised_alike one other X :
    outcome_of m f live one X = Raised -> outcome_of m f live other X = Raised.
  Proof.
    unfold outcome_of, continuing, ending.
    destruct (resume_unless_raised f (init (pure f)) X) as [s|]; [|reflexivity].
    destruct (end_raises m f _ s); [reflexivity|]. now destruct (end_passes m f one _ s).
  Qed.

  Lemma scanned_Forall (Q : Row -> Prop) X Y : scanned P lose X Y -> Forall Q X -> Forall Q Y.
  Proof. induction 1; intros all; inversion_clear all; auto. Qed.

  (** Scanned again, the rows that came out may all come out. *)
  Lemma scanned_again X Y : scanned P lose X Y -> scanned P lose Y Y.
  Proof. induction 1; [constructor|assumption|now apply scanned_kept]. Qed.

  Theorem filter_may_stay X Y :
    certified m f phi live D P lose psi I -> Forall D X -> scanned P lose X Y ->
    agree (outcome_of m f live phi X) (outcome_of m f live phi Y).
  Proof.
    intros C all scan fine.
    assert (E := checker_sound _ _ _ _ _ _ _ _ _ C X Y all scan fine).
    rewrite <- E. symmetry.
    apply (checker_sound _ _ _ _ _ _ _ _ _ C Y Y (scanned_Forall _ _ _ scan all)
             (scanned_again _ _ scan)).
    intros raised. apply (raised_alike phi psi) in raised. congruence.
  Qed.

  (** Where errors are kept, they still are. *)
  Theorem filter_may_stay_exactly X Y :
    certified m f phi live D P lose psi I -> keeps_errors m f D P lose I ->
    Forall D X -> scanned P lose X Y -> outcome_of m f live phi Y = outcome_of m f live phi X.
  Proof.
    intros C same all scan. destruct (outcome_of m f live phi X) eqn:E.
    - apply (raised_alike psi phi). rewrite <- E.
      exact (checker_exact _ _ _ _ _ _ _ _ _ C same X Y all scan).
    - rewrite <- E. apply (filter_may_stay X Y C all scan). congruence.
    - rewrite <- E. apply (filter_may_stay X Y C all scan). congruence.
  Qed.

  (** What passes and cannot be lost comes out. *)
  Lemma scanned_keeps X Y r :
    scanned P lose X Y -> In r X -> P r = true -> lose r = false -> In r Y.
  Proof.
    induction 1 as [|s X Y [drop|lost] _ IH|s X Y keep _ IH]; intros inside passes kept.
    - exact inside.
    - destruct inside as [->|inside]; [congruence|auto].
    - destruct inside as [->|inside]; [congruence|auto].
    - destruct inside as [->|inside]; [now left|right; auto].
  Qed.
End Staying.

Section Guarded.
  Context {Key Row : Type}.
  Variable eqb : Key -> Key -> bool.
  Hypothesis eqb_eq : forall j k, eqb j k = true <-> j = k.

  (** ** The plan *)

  (** [bad] holds of the keys whose groups are left alone. *)
  Definition of_good (bad : Key -> bool) (kr : Key * Row) : bool := negb (bad (fst kr)).
  Definition of_bad (bad : Key -> bool) (kr : Key * Row) : bool := bad (fst kr).

  (** The two branches of the plan. *)
  Definition guarded (bad : Key -> bool) (P : Key -> Row -> bool) (T : list (Key * Row)) :=
    filter (keyed P) (filter (of_good bad) T) ++ filter (of_bad bad) T.

  Lemma rows_of_app k (T U : list (Key * Row)) :
    rows_of eqb k (T ++ U) = rows_of eqb k T ++ rows_of eqb k U.
  Proof. unfold rows_of. now rewrite filter_app, map_app. Qed.

  (** A filter on keys takes a group or leaves it. *)
  Lemma rows_of_keys (b : Key -> bool) k (T : list (Key * Row)) :
    rows_of eqb k (filter (fun kr => b (fst kr)) T) = if b k then rows_of eqb k T else [].
  Proof.
    change (fun kr : Key * Row => b (fst kr)) with (keyed (fun j (_ : Row) => b j)).
    rewrite (rows_of_filter eqb eqb_eq).
    induction (rows_of eqb k T) as [|r X IH]; cbn; [now destruct (b k)|].
    now destruct (b k); [rewrite IH|].
  Qed.

  (** Each group comes out of one branch. *)
  Lemma rows_of_guarded bad P k T :
    rows_of eqb k (guarded bad P T)
    = if bad k then rows_of eqb k T else filter (P k) (rows_of eqb k T).
  Proof.
    unfold guarded, of_good, of_bad.
    rewrite rows_of_app, (rows_of_filter eqb eqb_eq), rows_of_keys.
    rewrite (rows_of_keys (fun j => negb (bad j))).
    destruct (bad k); cbn; [reflexivity|apply app_nil_r].
  Qed.

  (** ** It is right *)

  (** The assumption holds of every group that is not left alone. *)
  Definition covers (bad : Key -> bool) (law : Key -> list Row -> Prop) (T : list (Key * Row)) :=
    forall k, bad k = false -> law k (rows_of eqb k T).

  (** More keys may be bad than need be. *)
  Lemma covers_more bad bad' law T :
    (forall k, bad k = true -> bad' k = true) -> covers bad law T -> covers bad' law T.
  Proof.
    intros more C k good. apply C. destruct (bad k) eqn:E; [|reflexivity].
    apply more in E. congruence.
  Qed.

  (** What is proven under an assumption is right in a guarded plan, in every group of every table:
      for assumptions on rows and on groups, as long as deleting rows keeps them. *)
  Theorem guarded_query {Out Live : Type} (p : Key -> problem Row Out Live) P psi bad T :
    (forall k, closed (lawful (p k))) -> (forall k, solution (p k) (P k) (psi k)) ->
    covers bad (fun k => lawful (p k)) T ->
    forall k, value (p k) (rows_of eqb k (guarded bad P T)) = value (p k) (rows_of eqb k T).
  Proof.
    intros del S C k. rewrite rows_of_guarded. destruct (bad k) eqn:good; [reflexivity|].
    symmetry. apply (proj1 (prefilters_are_valid (p k) (del k) (P k))); [now exists (psi k)|].
    now apply C.
  Qed.

  (** The same for what the checker accepts. [D] is known, [A] assumed; the scan of the rows that
      are filtered may lose some. *)
  Section Jobs.
    Context {State Out Live : Type}.
    Variables
      (m : mode) (f : Key -> raising_fold Row State Out) (live : Out -> Live)
      (D A : Key -> Row -> Prop) (P lose : Key -> Row -> bool) (phi psi : Key -> Out -> bool)
      (I : Key -> bool -> State -> bool -> State -> Prop).

    Let before k T := outcome_of m (f k) live (phi k) (rows_of eqb k T).
    Let both k r := D k r /\ A k r.

    Variables (bad : Key -> bool) (T T' : list (Key * Row)).
    Hypothesis known : Forall (keyed D) T.
    Hypothesis covered : covers bad (fun k => Forall (A k)) T.
    Hypothesis scan : scanned (keyed P) (keyed lose) (filter (of_good bad) T) T'.
    Hypothesis C :
      forall k, certified m (f k) (phi k) live (both k) (P k) (lose k) (psi k) (I k).

    (** The rows of a group in the plan: all of them, or what the scan gives of lawful ones. *)
    Lemma rows_of_branches k :
      rows_of eqb k (T' ++ filter (of_bad bad) T) = rows_of eqb k T
      \/ Forall (both k) (rows_of eqb k T)
         /\ scanned (P k) (lose k) (rows_of eqb k T)
              (rows_of eqb k (T' ++ filter (of_bad bad) T)).
    Proof.
      assert (scan' := rows_of_scanned eqb eqb_eq P lose k _ _ scan).
      unfold of_good, of_bad in *. rewrite (rows_of_keys (fun j => negb (bad j))) in scan'.
      rewrite rows_of_app, rows_of_keys. destruct (bad k) eqn:good; cbn in scan'.
      - left. now inversion scan'.
      - right. rewrite app_nil_r. split; [|exact scan'].
        apply Forall_and; [now apply (rows_of_Forall eqb eqb_eq)|now apply covered].
    Qed.

    (** A job that does not fail gives the same in every group. *)
    Theorem guarded_job k : agree (before k T) (before k (T' ++ filter (of_bad bad) T)).
    Proof.
      unfold before. destruct (rows_of_branches k) as [->|[all scan']]; [now intros _|].
      exact (filter_may_stay _ _ _ _ _ _ _ _ _ _ _ (C k) all scan').
    Qed.

    (** And fails where it failed, if the certificate says so. *)
    Theorem guarded_exact k :
      keeps_errors m (f k) (both k) (P k) (lose k) (I k) ->
      before k (T' ++ filter (of_bad bad) T) = before k T.
    Proof.
      intros same. unfold before. destruct (rows_of_branches k) as [->|[all scan']]; [reflexivity|].
      exact (filter_may_stay_exactly _ _ _ _ _ _ _ _ _ _ _ (C k) same all scan').
    Qed.
  End Jobs.

  (** ** Which keys are bad *)

  Section Buckets.
    (** Keys may be told apart by any function of theirs, such as a hash; or by themselves. *)
    Context {Bucket : Type} (bucket : Key -> Bucket) (same : Bucket -> Bucket -> bool).
    Hypothesis same_refl : forall b, same b b = true.

    Definition in_bucket (k : Key) (kr : Key * Row) : bool := same (bucket (fst kr)) (bucket k).

    (** Some row of the bucket breaks the assumption. *)
    Definition marked (A : Key -> Row -> bool) (T : list (Key * Row)) (k : Key) : bool :=
      existsb (fun kr => negb (keyed A kr) && in_bucket k kr) T.

    (** The scan that looks for such rows may lose rows, but none that breaks it. *)
    Theorem marked_covers A lose T T' :
      scanned (fun kr => negb (keyed A kr)) lose T T' ->
      (forall kr, lose kr = true -> keyed A kr = true) ->
      covers (marked A T') (fun k => Forall (fun r => A k r = true)) T.
    Proof.
      intros scan faithful k good. apply Forall_forall. intros r inside.
      unfold rows_of in inside. apply in_map_iff in inside as ([j r'] & <- & inside).
      apply filter_In in inside as [inside here]. apply eqb_eq in here. cbn in *. subst j.
      destruct (A k r') eqn:breaks; [reflexivity|exfalso].
      enough (found : marked A T' k = true) by congruence.
      apply existsb_exists. exists (k, r'). unfold in_bucket, keyed. cbn.
      rewrite same_refl, breaks. split; [|reflexivity].
      apply (scanned_keeps _ _ _ _ _ scan inside); unfold keyed; cbn; [now rewrite breaks|].
      destruct (lose (k, r')) eqn:lost; [|reflexivity].
      apply faithful in lost. unfold keyed in lost; cbn in lost. congruence.
    Qed.

    (** An assumption on groups may be looked at for whole buckets. *)
    Theorem bucket_covers (law : list Row -> Prop) bad T :
      closed law -> (forall k, bad k = false -> law (map snd (filter (in_bucket k) T))) ->
      covers bad (fun _ => law) T.
    Proof.
      intros del holds k good. specialize (holds k good).
      assert (same_rows : rows_of eqb k T = rows_of eqb k (filter (in_bucket k) T)). {
        unfold in_bucket. rewrite (rows_of_keys (fun j => same (bucket j) (bucket k))).
        now rewrite same_refl.
      }
      rewrite same_rows. unfold rows_of. revert holds.
      generalize (filter (in_bucket k) T) as U. intros U.
      enough (H : forall X, law (X ++ map snd U) ->
                            law (X ++ map snd (filter (fun kr => eqb (fst kr) k) U)))
        by exact (H []).
      induction U as [|[j r] U IH]; intros X holds; [exact holds|]. cbn in *.
      destruct (eqb j k); cbn.
      - change (r :: map snd (filter (fun kr => eqb (fst kr) k) U))
          with ([r] ++ map snd (filter (fun kr => eqb (fst kr) k) U)).
        rewrite app_assoc. apply IH. now rewrite <- app_assoc.
      - apply IH. now apply (del X r).
    Qed.
  End Buckets.
End Guarded.

(** An assumption on groups: what the rows add up to is bounded, each by its magnitude. *)
Definition bounded {Row : Type} (size : Row -> nat) (n : nat) (X : list Row) : Prop :=
  list_sum (map size X) <= n.

Theorem bounded_closed {Row : Type} (size : Row -> nat) n : closed (bounded size n).
Proof.
  intros X r Y. unfold bounded. rewrite !map_app, !list_sum_app. cbn. intros small.
  apply (Nat.le_trans _ (list_sum (map size X) + (size r + list_sum (map size Y)))); [|exact small].
  apply Nat.add_le_mono_l, Nat.le_add_l.
Qed.

(** ** Functions of rows: a row that breaks the assumption passes. *)

Section Rows.
  Context {Row State Out Live : Type}.
  Variables
    (f : raising_fold Row State Out) (phi psi : Out -> bool) (live : Out -> Live)
    (D : Row -> Prop) (A P lose : Row -> bool)
    (I : bool -> State -> bool -> State -> Prop).

  (** What a row gives: it is a group of its own. *)
  Let of_row (r : Row) := outcome_of Grouped f live phi [r].

  (** What the rows of a table give. *)
  Definition given (T : list Row) : list Live :=
    flat_map (fun r => match of_row r with Result o => [o] | _ => [] end) T.

  Definition guard (r : Row) : bool := P r || negb (A r).

  Hypothesis C : certified Grouped f phi live (fun r => D r /\ A r = true) P lose psi I.

  (** The scan may lose only rows that obey the assumption. *)
  Hypothesis faithful : forall r, lose r = true -> A r = true.

  Lemma guarded_row r :
    D r -> guard r = false \/ lose r = true -> of_row r <> Raised -> of_row r = Nothing.
  Proof.
    intros known gone fine.
    assert (obeys : A r = true). {
      destruct gone as [gone|lost]; [|now apply faithful].
      apply orb_false_iff in gone as [_ gone]. now apply negb_false_iff.
    }
    assert (dropped : P r = false \/ lose r = true). {
      destruct gone as [gone|lost]; [left|now right]. now apply orb_false_iff in gone.
    }
    assert (scan : scanned P lose [r] []) by (apply scanned_dropped; [exact dropped|constructor]).
    assert (all : Forall (fun r => D r /\ A r = true) [r]) by now repeat constructor.
    unfold of_row in *. rewrite <- (checker_sound _ _ _ _ _ _ _ _ _ C [r] [] all scan fine).
    now apply outcome_of_no_rows.
  Qed.

  (** Where no row raises, the table gives the same. *)
  Theorem guarded_rows T T' :
    Forall D T -> Forall (fun r => of_row r <> Raised) T -> scanned guard lose T T' ->
    given T' = given T.
  Proof.
    intros known fine scan. unfold given.
    induction scan as [|r T T' gone _ IH|r T T' _ _ IH]; cbn; [reflexivity| |];
      inversion_clear known; inversion_clear fine; rewrite IH by assumption; [|reflexivity].
    now rewrite (guarded_row r).
  Qed.
End Rows.
