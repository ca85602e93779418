-- Every score of the runs in `$runs`, with what the evaluator measures. A session's scores belong to no run and no case, so
-- they are not here. `is_stale`: spans of the run have come since it was scored.
select
    scores.evaluator,
    scores.evaluator_sha256,
    scores.params::varchar as params,
    evaluators.title,
    evaluators.question,
    evaluators.unit,
    evaluators.better,
    scores.run_id,
    scores.score_value,
    scores.trace_fingerprint is distinct from runs.fingerprint as is_stale
from spanscore.main.scores as scores
inner join runs using (run_id)
inner join spanscore.main.evaluators as evaluators using (evaluator)
where scores.error is null and scores.run_id in (select unnest($runs::varchar[]))
order by scores.evaluator, scores.run_id, scores.subject_id
