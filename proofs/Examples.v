(** Three small folds that show why the statements are as they are. *)

From Coq Require Import List Bool Arith Lia.
Import ListNotations.
From Presieve Require Import Folds Problems Certificates Checker Witnesses.

Definition always {Row : Type} (_ : Row) : Prop := True.
Definition accepts_all {Out : Type} (_ : Out) : bool := true.

(** ** Groups that vanish: why GROUP BY needs the lifted fold *)

(** Rows say whether they are errors; the fold counts errors; the filter keeps counts up to 5. *)
Definition errors : fold bool nat nat :=
  Fold 0 (fun s (r : bool) => if r then S s else s) (fun s => s).
Definition at_most_5 (n : nat) : bool := n <=? 5.

(** The conditions on the plain fold prove the pre-filter "is an error"... *)
Example plain_conditions_hold :
  certifies (total errors) at_most_5 id always id at_most_5 eq.
Proof.
  split.
  - reflexivity.
  - intros s t r -> _ _. reflexivity.
  - intros s t r -> _ dropped. cbn. unfold id in dropped. now rewrite dropped.
  - intros s t ->. apply alike_accept. reflexivity.
Qed.

(** ...which loses the groups without errors. *)
Example group_vanishes : ~ solution (aggregating Grouped errors at_most_5 id always) id at_most_5.
Proof.
  intros S. specialize (S [false] ltac:(repeat constructor)). discriminate.
Qed.

(** ** A maximum over a limit: exact pushdown has a proof on the lifted fold only *)

Section Maximum.
  Variable c : nat.

  Definition maximum : fold nat nat nat := Fold 0 Nat.max (fun s => s).
  Definition above (n : nat) : bool := c <? n.

  Example no_plain_certificate I :
    ~ certifies (total maximum) above id always above accepts_all I.
  Proof.
    intros C. destruct (Final _ _ _ _ _ _ _ C _ _ (Init _ _ _ _ _ _ _ C)) as [[over _]|[_ below]].
    - discriminate over.
    - discriminate below.
  Qed.

  (** Either the filtered run has no row and the maximum is not over the limit, or it has one and
      both maxima are the same, over the limit. *)
  Definition maximum_invariant (x y : bool * nat) : Prop :=
    (fst y = false /\ snd x <= c /\ snd y = 0)
    \/ (fst x = true /\ fst y = true /\ c < snd x /\ snd x = snd y).

  Example lifted_certificate :
    certifies (lifted Grouped maximum) above id always above accepts_all maximum_invariant.
  Proof.
    unfold maximum_invariant. split; cbn.
    - left. repeat split. lia.
    - intros [n s] [n' t] r related _ over; cbn in *. apply Nat.ltb_lt in over. right. lia.
    - intros [n s] [n' t] r related _ under; cbn in *. apply Nat.ltb_ge in under.
      destruct related as [(-> & low & ->)|(-> & -> & high & <-)]; [left|right]; lia.
    - intros [n s] [n' t] [(no_row & low & zero)|(row & row' & high & same)];
        apply alike_accept; cbn in *; subst.
      + apply Nat.ltb_ge in low. destruct n; [|reflexivity].
        unfold accept, passes, above. now rewrite low.
      + apply Nat.ltb_lt in high. unfold accept, passes, above. now rewrite high.
  Qed.

  Example maximum_is_exact :
    solution (aggregating Grouped maximum above id always) above accepts_all.
  Proof. exact (soundness_grouped _ _ _ _ _ _ _ lifted_certificate). Qed.
End Maximum.

(** ** Errors: a table that raises is no witness *)

(** [Late] rows raise unless a [Seen] row came before; the fold is the greatest score. *)
Inductive event := Seen | Late | Score (n : nat).

Definition events : raising_fold event (bool * nat) nat :=
  Raising
    (Fold (false, 0)
       (fun s (r : event) => match r with
                   | Seen => (true, snd s)
                   | Late => s
                   | Score n => (fst s, Nat.max (snd s) n)
                   end)
       snd)
    (fun s (r : event) => match r with Late => negb (fst s) | _ => false end)
    (fun _ => false).

Definition over_5 (n : nat) : bool := 5 <? n.
Definition is_score (r : event) : bool := match r with Score _ => true | _ => false end.

(** Without [Seen] the table raises, with it there is a result: the two do not agree. *)
Example leaving_out_raises :
  ~ agree (outcome_of Grouped events id over_5 [Score 6; Seen; Late])
          (outcome_of Grouped events id over_5 [Score 6; Late]).
Proof. intros same. now discriminate same. Qed.

(** Yet [Seen] rows need not be kept, since [Late] rows go with them. *)
Example seen_may_be_dropped :
  right Grouped (fun _ : unit => events) (fun _ => over_5) id (fun _ => always)
    (fun _ => is_score) (fun _ => over_5).
Proof.
  apply (checked_is_right _ _ _ _ _ _ (fun _ _ => false) _
    (fun _ n s n' s' => snd s = snd s' /\ (n' = false -> snd s' = 0))).
  intros _ _. split.
  - now split.
  - intros n s n' s' r [same _] _ keep _. destruct r; try discriminate. cbn.
    now rewrite same.
  - intros n s n' s' r [same none] _ [dropped|] _; [|discriminate].
    destruct r; try discriminate; now split.
  - intros n s n' s' [same none] there _. cbn in there. subst n. split.
    + unfold end_raises. now rewrite andb_false_r.
    + unfold end_passes, id; cbn [present andb pure events out]. rewrite same.
      destruct n'; [destruct (over_5 (snd s')); [left|right]; auto|].
      right. now rewrite none.
Qed.
