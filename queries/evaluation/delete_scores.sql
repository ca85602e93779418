-- Earlier scores of these evaluators for the runs in scope that the new ones do not repeat.
delete from scores
where error is null
    and evaluator in (select evaluator from evaluated where list_contains($batch::integer[], evaluator_index))
    and (
        run_id in (select run_id from scored_runs)
        or (run_id is null and subject_id in (select session_id from scored_sessions))
    )
    and rowid not in (select score_row from unchanged);
