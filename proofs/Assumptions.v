(** What the theorems rest on. [scripts/proofs.sh] wants "Closed under the global context" of each:
    no axioms. *)

From Presieve Require Import
  Folds Problems Certificates Checker Grouping Orders Decoupling Skipping Congruence Strengthening
  Witnesses Guarded TwoFolds Examples.

Print Assumptions soundness.
Print Assumptions soundness_grouped.
Print Assumptions soundness_global.
Print Assumptions soundness_global_lifted.
Print Assumptions checker_sound.
Print Assumptions checker_exact.
Print Assumptions checker_keeps.
Print Assumptions kept_never_raises.
Print Assumptions grouped_query.
Print Assumptions grouped_job.
Print Assumptions key_conjunct.
Print Assumptions solution_in_any_order.
Print Assumptions residual_is_separate.
Print Assumptions prefilters_are_valid.
Print Assumptions residuals_agree.
Print Assumptions exact_iff.
Print Assumptions valid_is_pointwise.
Print Assumptions valid_both.
Print Assumptions valid_weaker.
Print Assumptions valid_conjunction.
Print Assumptions best_conjunction.
Print Assumptions strongest_unique.
Print Assumptions needed_is_kept.
Print Assumptions strongest_keeps_the_needed.
Print Assumptions strongest_iff.
Print Assumptions strongest_iff_needed.
Print Assumptions skipping_is_sound.
Print Assumptions skipping_with_residual.
Print Assumptions skipping_aggregation.
Print Assumptions skipping_certifies.
Print Assumptions congruent_coarsest.
Print Assumptions skipping_is_complete.
Print Assumptions forced_is_stronger.
Print Assumptions forced_is_certified.
Print Assumptions checked_forced_is_checked.
Print Assumptions witness_is_kept.
Print Assumptions region_is_needed.
Print Assumptions strongest_of_all.
Print Assumptions strongest_of_regions.
Print Assumptions conjunct_is_needed.
Print Assumptions filter_may_stay.
Print Assumptions filter_may_stay_exactly.
Print Assumptions guarded_query.
Print Assumptions guarded_job.
Print Assumptions guarded_exact.
Print Assumptions covers_more.
Print Assumptions marked_covers.
Print Assumptions bucket_covers.
Print Assumptions bounded_closed.
Print Assumptions guarded_rows.
Print Assumptions plain_conditions_hold.
Print Assumptions group_vanishes.
Print Assumptions no_plain_certificate.
Print Assumptions maximum_is_exact.
Print Assumptions leaving_out_raises.
Print Assumptions seen_may_be_dropped.
Print Assumptions same_result.
Print Assumptions in_its_place.
Print Assumptions no_order_matters.
Print Assumptions flag_tells.
