(** Soundness of the conditions as [src/presieve/certificate/obligations.py] builds them: on the
    lifted fold, with errors, and with rows that a file scan may lose. *)

From Coq Require Import List Bool.
Import ListNotations.
From Presieve Require Import Folds.

(** A fold with the conditions under which a step and the finish raise. *)
Record raising_fold (Row State Out : Type) := Raising {
  pure : fold Row State Out;
  step_raises : State -> Row -> bool;
  finish_raises : State -> bool
}.
Arguments Raising {Row State Out}.
Arguments pure {Row State Out}.
Arguments step_raises {Row State Out}.
Arguments finish_raises {Row State Out}.

(** What a pipeline gives for one group: an error, no row, or a row with these live outputs. *)
Inductive outcome (Live : Type) := Raised | Nothing | Result (o : Live).
Arguments Raised {Live}.
Arguments Nothing {Live}.
Arguments Result {Live}.

(** The rewrite is right on a group: the same, and no error that was not there. An error of the
    original licenses anything. *)
Definition agree {Live : Type} (original optimized : outcome Live) : Prop :=
  original <> Raised -> optimized = original.

Section Outcomes.
  Context {Row State Out Live : Type}.
  Variables (m : mode) (f : raising_fold Row State Out) (live : Out -> Live).

  (** The state after more rows; [None] where Python raised on one of them. *)
  Fixpoint resume_unless_raised (s : State) (X : list Row) : option State :=
    match X with
    | [] => Some s
    | r :: X => if step_raises f s r then None else resume_unless_raised (step (pure f) s r) X
    end.

  (** Python raises when the group ends, if the run has a result at all. *)
  Definition end_raises (n : bool) (s : State) : bool := present m n && finish_raises f s.

  (** The run has a result and the filter keeps it. *)
  Definition end_passes (phi : Out -> bool) (n : bool) (s : State) : bool :=
    present m n && phi (out (pure f) s).

  (** A run that ends in state [s]. *)
  Definition ending (phi : Out -> bool) (n : bool) (s : State) : outcome Live :=
    if end_raises n s then Raised
    else if end_passes phi n s then Result (live (out (pure f) s))
    else Nothing.

  (** A run that goes on from state [s]. *)
  Definition continuing (phi : Out -> bool) (n : bool) (s : State) (X : list Row) : outcome Live :=
    match resume_unless_raised s X with
    | None => Raised
    | Some s' => ending phi (n || nonempty X) s'
    end.

  (** A whole run. *)
  Definition outcome_of (phi : Out -> bool) (X : list Row) : outcome Live :=
    continuing phi false (init (pure f)) X.

  Lemma continuing_cons phi n s r X :
    continuing phi n s (r :: X)
    = if step_raises f s r then Raised else continuing phi true (step (pure f) s r) X.
  Proof.
    unfold continuing; cbn. destruct (step_raises f s r); [reflexivity|]. now rewrite orb_true_r.
  Qed.

  (** A group without rows is nothing under GROUP BY. *)
  Lemma outcome_of_no_rows phi : m = Grouped -> outcome_of phi [] = Nothing.
  Proof.
    intros grouped. unfold outcome_of, continuing, ending, end_raises, end_passes; cbn.
    now rewrite grouped.
  Qed.
End Outcomes.

(** What the fold sees of a table under a pre-filter in the scan: rows that fail [P] never, rows
    that pass always, except that those which the scan may [lose] are there or not
    ([src/presieve/semantics/scan.py] says which). *)
Inductive scanned {Row : Type} (P lose : Row -> bool) : list Row -> list Row -> Prop :=
  | scanned_end : scanned P lose [] []
  | scanned_dropped r X Y :
      P r = false \/ lose r = true -> scanned P lose X Y -> scanned P lose (r :: X) Y
  | scanned_kept r X Y :
      P r = true -> scanned P lose X Y -> scanned P lose (r :: X) (r :: Y).

Lemma filter_scanned {Row : Type} (P lose : Row -> bool) (X : list Row) :
  scanned P lose X (filter P X).
Proof.
  induction X as [|r X IH]; cbn; [constructor|].
  destruct (P r) eqn:keep; [apply scanned_kept|apply scanned_dropped]; auto.
Qed.

(** A scan that loses nothing is a filter. *)
Lemma scanned_filter {Row : Type} (P : Row -> bool) (X Y : list Row) :
  scanned P (fun _ => false) X Y -> Y = filter P X.
Proof.
  induction 1 as [|r X Y [drop|lost] _ IH|r X Y keep _ IH]; cbn.
  - reflexivity.
  - now rewrite drop.
  - discriminate.
  - now rewrite keep, IH.
Qed.

Section Conditions.
  Context {Row State Out Live : Type}.
  Variables
    (m : mode) (f : raising_fold Row State Out) (phi : Out -> bool) (live : Out -> Live)
    (D : Row -> Prop) (P lose : Row -> bool) (psi : Out -> bool).

  Let A := step (pure f).

  (** The two flags and states of an invariant: [I n s n' s'], as in obligations.py. *)
  Variable I : bool -> State -> bool -> State -> Prop.

  (** The scripts [init], [sync], [stutter] and [final] are unsatisfiable. *)
  Record checked : Prop := {
    checked_init : I false (init (pure f)) false (init (pure f));
    checked_sync n s n' s' r :
      I n s n' s' -> D r -> P r = true -> step_raises f s r = false ->
      step_raises f s' r = false /\ I true (A s r) true (A s' r);
    checked_stutter n s n' s' r :
      I n s n' s' -> D r -> P r = false \/ lose r = true -> step_raises f s r = false ->
      I true (A s r) n' s';
    checked_final n s n' s' :
      I n s n' s' -> present m n = true -> finish_raises f s = false ->
      end_raises m f n' s' = false
      /\ ((end_passes m f phi n s = true /\ end_passes m f psi n' s' = true
           /\ live (out (pure f) s) = live (out (pure f) s'))
          \/ (end_passes m f phi n s = false /\ end_passes m f psi n' s' = false))
  }.

  (** Under GROUP BY they may use what is assumed of keys: a group has a row, and it is lawful. *)
  Definition certified : Prop := (m = Grouped -> exists r, D r) -> checked.

  Lemma checked_ending n s n' s' :
    checked -> I n s n' s' -> present m n = true ->
    agree (ending m f live phi n s) (ending m f live psi n' s').
  Proof.
    intros C related there fine.
    assert (quiet : finish_raises f s = false). {
      destruct (finish_raises f s) eqn:raises; [|reflexivity].
      exfalso. apply fine. unfold ending, end_raises. now rewrite there, raises.
    }
    destruct (checked_final C _ _ _ _ related there quiet) as [quiet' verdict].
    unfold ending. rewrite quiet'.
    replace (end_raises m f n s) with false by (unfold end_raises; now rewrite quiet, andb_false_r).
    destruct verdict as [(-> & -> & ->)|(-> & ->)]; reflexivity.
  Qed.

  Lemma checked_continuing X Y :
    checked -> scanned P lose X Y -> Forall D X ->
    forall n s n' s', I n s n' s' -> present m (n || nonempty X) = true ->
    agree (continuing m f live phi n s X) (continuing m f live psi n' s' Y).
  Proof.
    intros C scan. induction scan as [|r X Y dropped _ IH|r X Y kept _ IH];
      intros all n s n' s' related there.
    - rewrite orb_false_r in there. unfold continuing; cbn. rewrite !orb_false_r.
      now apply checked_ending.
    - inversion_clear all as [|? ? lawful_r all']. rewrite continuing_cons.
      destruct (step_raises f s r) eqn:quiet; [now intros []|].
      apply IH; [assumption| |now destruct m].
      now apply (checked_stutter C n s n' s').
    - inversion_clear all as [|? ? lawful_r all']. rewrite !continuing_cons.
      destruct (step_raises f s r) eqn:quiet; [now intros []|].
      destruct (checked_sync C n s n' s' r related lawful_r kept quiet) as [-> related'].
      apply IH; [assumption|exact related'|now destruct m].
  Qed.

  (** What [check] accepts is right on every group, whatever the scan does. *)
  Theorem checker_sound :
    certified -> forall X Y, Forall D X -> scanned P lose X Y ->
    agree (outcome_of m f live phi X) (outcome_of m f live psi Y).
  Proof.
    intros C X Y all scan.
    destruct (present m (nonempty X)) eqn:there.
    - assert (some : m = Grouped -> exists r, D r). {
        intros ->. destruct X as [|r X]; [discriminate|]. exists r. now inversion all.
      }
      apply (checked_continuing X Y (C some) scan all); [exact (checked_init (C some))|exact there].
    - (* A group that does not exist stays so. *)
      destruct m, X as [|r X]; try discriminate.
      inversion scan. now intros _.
  Qed.

  (** A run raises or not, whatever the filter says of what it gives. *)
  Lemma raising_is_not_filtered (one other : Out -> bool) n s X :
    continuing m f live one n s X = Raised -> continuing m f live other n s X = Raised.
  Proof.
    unfold continuing, ending. destruct (resume_unless_raised f s X) as [e|]; [|reflexivity].
    destruct (end_raises m f (n || nonempty X) e); [reflexivity|].
    now destruct (end_passes m f one (n || nonempty X) e).
  Qed.

  (** Also of a table on which the original raises: what the rewritten pipeline gives is what the
      original gives of the rows that are kept, errors included. So the filter may stay where the
      residual would do. *)
  Theorem checker_keeps :
    certified -> forall X Y, Forall D X -> scanned P lose X Y ->
    outcome_of m f live psi Y = outcome_of m f live phi Y.
  Proof.
    intros C X Y all scan.
    assert (lawful : Forall D Y). {
      induction scan; [constructor| |]; inversion_clear all; auto.
    }
    assert (again : scanned P lose Y Y). {
      clear - scan. induction scan; [constructor|assumption|now apply scanned_kept].
    }
    pose proof (checker_sound C Y Y lawful again) as same.
    destruct (outcome_of m f live phi Y) eqn:E.
    - revert E. apply raising_is_not_filtered.
    - apply same; discriminate.
    - apply same; discriminate.
  Qed.

  (** The script [kept_raises] is unsatisfiable: no run over rows that are kept raises, on a row or
      at the end of the group. The invariant on the diagonal says which states such runs reach. *)
  Record kept_quiet : Prop := {
    quiet_step n s r :
      I n s n s -> D r -> P r = true ->
      step_raises f s r = false /\ finish_raises f (A s r) = false;
    quiet_start : m = Global -> finish_raises f (init (pure f)) = false
  }.

  Lemma kept_quiet_resumes Y :
    checked -> kept_quiet -> Forall D Y -> Forall (fun r => P r = true) Y ->
    forall n s, I n s n s -> (present m n = true -> finish_raises f s = false) ->
    exists e, resume_unless_raised f s Y = Some e
      /\ (present m (n || nonempty Y) = true -> finish_raises f e = false).
  Proof.
    intros C quiet. induction Y as [|r Y IH]; intros lawful kept n s related ends; cbn.
    - exists s. now rewrite orb_false_r.
    - inversion_clear lawful as [|? ? lawful_r lawful'].
      inversion_clear kept as [|? ? kept_r kept'].
      destruct (quiet_step quiet n s r related lawful_r kept_r) as [calm calm_end].
      rewrite calm.
      destruct (checked_sync C n s n s r related lawful_r kept_r calm) as [_ related'].
      destruct (IH lawful' kept' true (A s r) related') as (e & resumes & ends_e); [easy|].
      exists e. split; [exact resumes|].
      intros there. apply ends_e. now destruct m.
  Qed.

  (** No row that is kept can lose its error: it has none. What is not evaluated then, since nobody
      reads it, would not have raised. *)
  Theorem kept_never_raises :
    certified -> (m = Grouped -> exists r, D r) -> kept_quiet ->
    forall X Y, Forall D X -> scanned P lose X Y -> outcome_of m f live psi Y <> Raised.
  Proof.
    intros C some quiet X Y all scan.
    assert (lawful : Forall D Y). {
      induction scan; [constructor| |]; inversion_clear all; auto.
    }
    assert (kept : Forall (fun r => P r = true) Y) by (clear - scan; induction scan; auto).
    destruct (kept_quiet_resumes Y (C some) quiet lawful kept false (init (pure f))) as
      (e & resumes & ends).
    - exact (checked_init (C some)).
    - intros there. apply (quiet_start quiet). now destruct m.
    - unfold outcome_of, continuing, ending, end_raises. rewrite resumes.
      destruct (present m (false || nonempty Y)) eqn:there; cbn.
      + rewrite (ends eq_refl). cbn. now destruct (end_passes m f psi (nonempty Y) e).
      + now destruct (end_passes m f psi (nonempty Y) e).
  Qed.

  (** The script [erases_error] is unsatisfiable: no related run raises where its twin does not, on
      a row that is dropped or kept, or at the end of a group. Some row is lawful, as [premises]
      makes sure. *)
  Definition keeps_errors : Prop :=
    (exists r, D r) /\
    forall n s n' s' r, I n s n' s' -> D r ->
      (P r = false \/ lose r = true -> step_raises f s r = false)
      /\ (step_raises f s r = true -> step_raises f s' r = true)
      /\ (end_raises m f n s = true -> end_raises m f n' s' = true).

  Lemma keeps_errors_continuing X Y :
    checked -> keeps_errors -> scanned P lose X Y -> Forall D X ->
    forall n s n' s', I n s n' s' ->
    continuing m f live phi n s X = Raised -> continuing m f live psi n' s' Y = Raised.
  Proof.
    intros C [[r0 lawful_r0] same] scan. induction scan as [|r X Y dropped _ IH|r X Y kept _ IH];
      intros all n s n' s' related.
    - unfold continuing; cbn. rewrite !orb_false_r. unfold ending.
      destruct (same _ _ _ _ r0 related lawful_r0) as (_ & _ & ends).
      destruct (end_raises m f n s).
      + now rewrite ends.
      + now destruct (end_passes m f phi n s).
    - inversion_clear all as [|? ? lawful_r all']. rewrite continuing_cons.
      destruct (same _ _ _ _ r related lawful_r) as (quiet & _ & _).
      rewrite (quiet dropped). apply IH; [assumption|].
      apply (checked_stutter C n s n' s'); auto.
    - inversion_clear all as [|? ? lawful_r all']. rewrite !continuing_cons.
      destruct (same _ _ _ _ r related lawful_r) as (_ & raises & _).
      destruct (step_raises f s r) eqn:quiet; [now rewrite raises|].
      destruct (checked_sync C n s n' s' r related lawful_r kept quiet) as [-> related'].
      now apply IH.
  Qed.

  (** Without [may_erase_error] the rewritten pipeline gives the very same, errors included. *)
  Theorem checker_exact :
    certified -> keeps_errors -> forall X Y, Forall D X -> scanned P lose X Y ->
    outcome_of m f live psi Y = outcome_of m f live phi X.
  Proof.
    intros C same X Y all scan.
    destruct (outcome_of m f live phi X) eqn:E.
    - assert (C' : checked) by (apply C; intros _; exact (proj1 same)).
      revert E. apply (keeps_errors_continuing X Y C' same scan all). exact (checked_init C').
    - rewrite <- E. apply checker_sound; auto; congruence.
    - rewrite <- E. apply checker_sound; auto; congruence.
  Qed.
End Conditions.
