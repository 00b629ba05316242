"""Tests whose pipelines read more rows of a source once they are optimized, and why.

``tests/conftest.py`` does not compare rows out of scans there. Everywhere else it does.
"""

from __future__ import annotations

from collections.abc import Mapping

READING_MORE: Mapping[str, tuple[str, ...]] = {
    "a guarded plan finds rows that break an assumption, and reads its table again": (
        "backend/classic/test_py4j_errors.py::test_a_guard_is_what_keeps_groups_with_nan",
        "backend/classic/test_py4j_errors.py::test_as_written",
        "backend/classic/test_py4j_errors.py::test_rows_that_come_later",
        "backend/catalyst/test_functions_of_tables.py::test_apply_in_arrow",
        "backend/catalyst/test_types.py::test_fields_of_a_struct_as_columns",
        "backend/effects/test_transport.py::test_numbers_of_groups",
        "backend/problems/test_arrow.py::test_arrays",
        "backend/problems/test_group_fold.py::test_a_class",
        "backend/problems/test_group_fold.py::test_several_in_one_aggregate",
        "backend/problems/test_group_fold.py::test_columns_under_other_names",
        "backend/problems/test_group_fold.py::test_fields_of_a_struct",
        "backend/problems/test_group_fold.py::test_a_list_that_is_changed_in_place",
        "backend/problems/test_group_fold.py::test_fields_that_nobody_reads",
        "backend/problems/test_identity.py::test_two_functions_that_change_nothing_of_it",
        "backend/problems/test_needed.py::test_it_says_why_the_filter_stays[a guard]",
        "backend/problems/test_selected.py::test_selections",
        "backend/statistics/test_data_check.py::test_asked_again_of_other_files",
        "backend/statistics/test_data_check.py::test_filters_by_which_the_check_would_lose_rows_are_left_out",
        "backend/statistics/test_data_check.py::test_filters_of_the_job_stay_when_the_guard_reads_its_input_again",
        "backend/statistics/test_data_check.py::test_the_parts_of_a_union_have_other_filters",
        "backend/statistics/test_facts.py::test_footers_that_count_a_null",
        "backend/statistics/test_facts.py::test_footers_that_bound_integers",
        "backend/statistics/test_facts.py::test_footers_of_a_table_are_facts_of_now",
        "backend/statistics/test_footers.py::test_doubles_that_are_cast",
        "backend/statistics/test_footers.py::test_decimals",
        "traps/test_spark_python_pandas.py::test_t05_in_a_loop_the_assumption_is_listed",
        "traps/test_spark_python_pandas.py::test_t06_in_a_loop_the_assumption_is_listed",
    ),
    "with cost=always, what Spark reads once for two places gets a pre-filter for each": (
        "backend/catalyst/test_native_aggregates.py::test_copies_of_one_aggregate_with_different_filters",
        "backend/catalyst/test_shapes.py::test_definitions",
        "backend/catalyst/test_shapes.py::test_definitions_that_are_read_twice",
        "backend/statistics/test_cost.py::test_a_self_join_of_which_one_side_is_filtered",
    ),
    "one of the two reads what was cached, and the other one files": (
        "backend/problems/test_rounds.py::test_what_was_made_of_it_is_cached",
    ),
}


def why_reading_more(nodeid: str) -> str | None:
    """Why a test's pipelines read more; None where they must not. A test is listed with all its
    cases or by one of them.
    """
    case = nodeid.removeprefix("tests/")
    names = {case, case.partition("[")[0]}
    return next((why for why, tests in READING_MORE.items() if names & set(tests)), None)
