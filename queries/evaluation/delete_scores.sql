-- What the new scores take the place of: earlier ones of the same evaluators for the runs in scope, and earlier failures.
-- A failure of an evaluator that is not there any more goes too, when all that there are were run.
-- An evaluator that failed leaves its earlier scores: they are marked by their hash and by the fingerprint of the trace.
delete from scores
where rowid not in (select score_row from unchanged)
    and (
        (
            error is null
            and evaluator in (select evaluator from given_evaluators)
            and (
                run_id in (select run_id from scored_runs)
                or (run_id is null and subject_id in (select session_id from scored_runs where session_id is not null))
            )
        )
        or (
            error is not null
            and (
                not $is_selection
                or evaluator in (select evaluator from given_evaluators union all select evaluator from given_scores)
            )
        )
    );
