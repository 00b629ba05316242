(** Folds over tables, with and without GROUP BY. *)

From Coq Require Import List Bool.
Import ListNotations.

(** A fold over rows: [out (step ... (step (step init r1) r2) ... rn)]. *)
Record fold (Row State Out : Type) := Fold {
  init : State;
  step : State -> Row -> State;
  out : State -> Out
}.
Arguments Fold {Row State Out}.
Arguments init {Row State Out}.
Arguments step {Row State Out}.
Arguments out {Row State Out}.

(** What the fold of no rows is: nothing (GROUP BY), or the output of the initial state. *)
Inductive mode := Grouped | Global.

Section Runs.
  Context {Row State Out : Type}.

  (** The state after more rows. *)
  Definition resume (f : fold Row State Out) (s : State) (X : list Row) : State :=
    fold_left (step f) X s.

  (** The state after all rows of a table. *)
  Definition run (f : fold Row State Out) (X : list Row) : State := resume f (init f) X.

  Lemma resume_app f s X Y : resume f s (X ++ Y) = resume f (resume f s X) Y.
  Proof. apply fold_left_app. Qed.

  Lemma run_app f X Y : run f (X ++ Y) = resume f (run f X) Y.
  Proof. apply resume_app. Qed.

  Lemma run_snoc f X r : run f (X ++ [r]) = step f (run f X) r.
  Proof. now rewrite run_app. Qed.

  (** What holds before any row, and is kept by every row with [Q], holds after a table of such
      rows. *)
  Lemma run_invariant (J : State -> Prop) (Q : Row -> Prop) f X :
    J (init f) -> (forall s r, J s -> Q r -> J (step f s r)) -> Forall Q X -> J (run f X).
  Proof.
    intros start kept.
    induction X as [|r X IH] using rev_ind; intros all; [exact start|].
    apply Forall_app in all as [all last].
    rewrite run_snoc. apply kept; [now apply IH|]. now inversion last.
  Qed.

End Runs.

Section Modes.
  Context {Row State Out : Type}.

  (** Whether a run has a result at all, given whether it has seen a row. *)
  Definition present (m : mode) (nonempty : bool) : bool :=
    match m with
    | Grouped => nonempty
    | Global => true
    end.

  Definition nonempty (X : list Row) : bool :=
    match X with
    | [] => false
    | _ :: _ => true
    end.

  (** The output of a fold over a table; [None] is the group that does not exist. *)
  Definition result (m : mode) (f : fold Row State Out) (X : list Row) : option Out :=
    if present m (nonempty X) then Some (out f (run f X)) else None.

  (** A fold that always has an output, as a fold that may have none. *)
  Definition total (f : fold Row State Out) : fold Row State (option Out) :=
    Fold (init f) (step f) (fun s => Some (out f s)).

  (** The lifted fold: its state carries the flag "has seen a row". *)
  Definition lifted (m : mode) (f : fold Row State Out) : fold Row (bool * State) (option Out) :=
    Fold
      (false, init f)
      (fun ns r => (true, step f (snd ns) r))
      (fun ns => if present m (fst ns) then Some (out f (snd ns)) else None).

End Modes.

Section Lifting.
  Context {Row State Out : Type} (m : mode) (f : fold Row State Out).

  Lemma lifted_run X : run (lifted m f) X = (nonempty X, run f X).
  Proof.
    induction X as [|r X IH] using rev_ind; [reflexivity|].
    rewrite !run_snoc, IH. now destruct X.
  Qed.

  (** The lifted fold is the fold with its mode built in. *)
  Lemma lifted_result X : out (lifted m f) (run (lifted m f) X) = result m f X.
  Proof. now rewrite lifted_run. Qed.
End Lifting.
